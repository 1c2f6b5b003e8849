-- Whether the members of the account need a second factor.
ALTER TABLE accounts ADD COLUMN requires_second_factor boolean NOT NULL DEFAULT false;
