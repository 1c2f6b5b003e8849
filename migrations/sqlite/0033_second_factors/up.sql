-- The second factor of a user: the sealed seed of its one-time codes, the newest step whose code was used, the hashes of the recovery
-- codes that are left (32 bytes each), and when it was set up. All four or none.
ALTER TABLE users ADD COLUMN totp_seed BLOB;
ALTER TABLE users ADD COLUMN totp_last_step INTEGER;
ALTER TABLE users ADD COLUMN recovery_codes BLOB;
ALTER TABLE users ADD COLUMN second_factor_at INTEGER;
