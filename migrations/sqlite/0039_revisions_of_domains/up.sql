-- When the status or the settings of a domain last changed (D120). NULL in rows that only older versions have written: since its
-- creation, as far as known.
ALTER TABLE custom_domains ADD COLUMN updated_at INTEGER;
-- The version of a domain: 1 when it is new, and 1 more with each change (D120).
ALTER TABLE custom_domains ADD COLUMN revision INTEGER NOT NULL DEFAULT 1 CHECK (revision > 0);
