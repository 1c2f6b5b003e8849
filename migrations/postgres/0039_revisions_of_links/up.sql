-- The version of a link: 1 when it is new, and 1 more with each change (D120).
ALTER TABLE links ADD COLUMN revision bigint NOT NULL DEFAULT 1;
-- Every row has the default, so there is nothing to check while the table is locked.
ALTER TABLE links ADD CONSTRAINT links_revision CHECK (revision > 0) NOT VALID;
