-- Why a domain has failed, and what look-ups saw of it (D65). All are NULL in rows that only older versions have written.
-- Readers heed the reason of a failed domain alone.
ALTER TABLE custom_domains ADD COLUMN failure_reason TEXT;
-- When DNS last answered about the domain.
ALTER TABLE custom_domains ADD COLUMN checked_at INTEGER;
-- What was in place of each record of the instructions, as JSON.
ALTER TABLE custom_domains ADD COLUMN observed TEXT;
