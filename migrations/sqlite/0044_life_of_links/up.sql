-- From when until when a link works; NULL is no bound (D128).
ALTER TABLE links ADD COLUMN starts_at INTEGER;
ALTER TABLE links ADD COLUMN expires_at INTEGER;
-- What else a link does with its visitors, as JSON text; NULL for a plain link (ADR 81).
ALTER TABLE links ADD COLUMN behaviour TEXT;
