-- When the status or the settings of a domain last changed (D120). NULL in rows that only older versions have written: since its
-- creation, as far as known. During an upgrade, nodes of the version before change the status without a new value here.
ALTER TABLE custom_domains ADD COLUMN updated_at timestamptz(3);
-- The version of a domain: 1 when it is new, and 1 more with each change (D120).
ALTER TABLE custom_domains ADD COLUMN revision bigint NOT NULL DEFAULT 1;
-- Every row has the default, so there is nothing to check while the table is locked.
ALTER TABLE custom_domains ADD CONSTRAINT custom_domains_revision CHECK (revision > 0) NOT VALID;
