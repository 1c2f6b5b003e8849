-- Whether the column behaviour of a redirect has rules (D133). They are read there; this is for the list of the links that have some
-- (D126, ADR 87). Nodes of earlier versions write no rules, and insert links with the default.
ALTER TABLE links ADD COLUMN has_rules boolean NOT NULL DEFAULT false;
