-- The second factor of a user: the sealed seed of its one-time codes, the newest step whose code was used, the hashes of the recovery
-- codes that are left (32 bytes each), and when it was set up. All four or none. During an upgrade, nodes of the version before ask for
-- the password only.
ALTER TABLE users ADD COLUMN totp_seed bytea;
ALTER TABLE users ADD COLUMN totp_last_step bigint;
ALTER TABLE users ADD COLUMN recovery_codes bytea;
ALTER TABLE users ADD COLUMN second_factor_at timestamptz(3);
