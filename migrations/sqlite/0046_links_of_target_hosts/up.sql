-- The list of the redirects to a host of two to five labels, or to one under it, is a range of one of these (D126, ADR 83).
CREATE INDEX links_of_target_2 ON links (account_id, target_host_2, kind, id) WHERE target_host_2 IS NOT NULL;
CREATE INDEX links_of_target_3 ON links (account_id, target_host_3, kind, id) WHERE target_host_3 IS NOT NULL;
CREATE INDEX links_of_target_4 ON links (account_id, target_host_4, kind, id) WHERE target_host_4 IS NOT NULL;
CREATE INDEX links_of_target_5 ON links (account_id, target_host_5, kind, id) WHERE target_host_5 IS NOT NULL;
