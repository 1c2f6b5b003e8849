-- The version of a group: 1 when it is new, and 1 more with each new name (D120).
ALTER TABLE groups ADD COLUMN revision bigint NOT NULL DEFAULT 1;
-- Every row has the default, so there is nothing to check while the table is locked.
ALTER TABLE groups ADD CONSTRAINT groups_revision CHECK (revision > 0) NOT VALID;
