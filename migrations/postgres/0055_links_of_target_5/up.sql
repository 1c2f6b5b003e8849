-- The list of the redirects to a host of five labels, or to one under it, is a range of this (D126, ADR 83). The condition is true of
-- every target whose host has so many labels, and cheap.
CREATE INDEX links_of_target_5 ON links (account_id, end_of_host(host_of_target(target_url, target_host), 5), kind, id)
    WHERE split_part(split_part(target_url, '/', 3), '.', 5) <> '';
