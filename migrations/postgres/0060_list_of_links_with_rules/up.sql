-- The list of the links with rules is a range of this (D126, ADR 87). Few links have some.
CREATE INDEX links_with_rules ON links (account_id, has_rules, kind, id) WHERE has_rules;
