-- Who issued a key, when it was last used, how long it is valid, and what it may do (D80). All are NULL in older rows: such keys
-- do not expire and may do everything.
--
-- Without a foreign key: the key outlives the user.
ALTER TABLE api_keys ADD COLUMN created_by BLOB CHECK (length(created_by) = 16);
ALTER TABLE api_keys ADD COLUMN last_used_at INTEGER;
-- The first instant at which the key is no longer accepted.
ALTER TABLE api_keys ADD COLUMN expires_at INTEGER;
-- The sum of 1 for `read`, 2 for `links`, 4 for `domains` and 8 for `analytics`.
ALTER TABLE api_keys ADD COLUMN scopes INTEGER;
