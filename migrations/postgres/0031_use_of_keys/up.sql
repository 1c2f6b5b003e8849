-- Who issued a key, when it was last used, how long it is valid, and what it may do (D80). All are NULL in older rows: such keys
-- do not expire and may do everything.
ALTER TABLE api_keys
    -- Without a foreign key: the key outlives the user.
    ADD COLUMN created_by   uuid,
    ADD COLUMN last_used_at timestamptz(3),
    -- The first instant at which the key is no longer accepted.
    ADD COLUMN expires_at   timestamptz(3),
    -- The sum of 1 for `read`, 2 for `links`, 4 for `domains` and 8 for `analytics`.
    ADD COLUMN scopes       smallint;
