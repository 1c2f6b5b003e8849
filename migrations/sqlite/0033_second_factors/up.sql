-- The second factor of a user: the sealed seed of its one-time codes, the newest step whose code was used, the hashes of the recovery
-- codes that are left (32 bytes each), and when it was set up. All four or none.
ALTER TABLE users ADD COLUMN totp_seed BLOB;
ALTER TABLE users ADD COLUMN totp_last_step INTEGER;
ALTER TABLE users ADD COLUMN recovery_codes BLOB;
ALTER TABLE users ADD COLUMN second_factor_at INTEGER;
-- Whether the members of the account need one.
ALTER TABLE accounts ADD COLUMN requires_second_factor INTEGER NOT NULL DEFAULT 0 CHECK (requires_second_factor IN (0, 1));
