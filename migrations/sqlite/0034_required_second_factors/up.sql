-- Whether the members of the account need a second factor.
ALTER TABLE accounts ADD COLUMN requires_second_factor INTEGER NOT NULL DEFAULT 0 CHECK (requires_second_factor IN (0, 1));
