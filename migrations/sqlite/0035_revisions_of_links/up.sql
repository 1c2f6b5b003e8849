-- The version of a link: 1 when it is new, and 1 more with each change (D120).
ALTER TABLE links ADD COLUMN revision INTEGER NOT NULL DEFAULT 1 CHECK (revision > 0);
