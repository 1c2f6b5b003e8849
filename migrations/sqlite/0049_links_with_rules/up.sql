-- Whether the column behaviour of a redirect has rules (D133). They are read there; this and its index are for the list of the links
-- that have some (D126, ADR 87). Few links have some.
ALTER TABLE links ADD COLUMN has_rules INTEGER NOT NULL DEFAULT 0 CHECK (has_rules IN (0, 1));
CREATE INDEX links_with_rules ON links (account_id, kind, id) WHERE has_rules;
