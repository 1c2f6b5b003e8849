-- Why a domain has failed, and what look-ups saw of it (D65). All are NULL in rows that only older versions have written. No
-- constraint ties them to the status: during an upgrade, nodes of the version before change the status and know nothing of
-- these columns. Readers heed the reason of a failed domain alone.
ALTER TABLE custom_domains
    ADD COLUMN failure_reason text COLLATE "C",
    -- When DNS last answered about the domain.
    ADD COLUMN checked_at     timestamptz(3),
    -- What was in place of each record of the instructions, as JSON. Text rather than `jsonb`: nothing here looks into it.
    ADD COLUMN observed       text;
