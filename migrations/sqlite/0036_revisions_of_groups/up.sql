-- The version of a group: 1 when it is new, and 1 more with each new name (D120).
ALTER TABLE groups ADD COLUMN revision INTEGER NOT NULL DEFAULT 1 CHECK (revision > 0);
