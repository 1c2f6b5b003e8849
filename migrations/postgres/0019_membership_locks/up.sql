-- What the units of work of one account hold while they change which links are in its groups, one after the other (ADR 33).
--
-- The first of them inserts the row. It goes with its account, also where a node of the version before deletes that.
CREATE TABLE membership_locks (
    account_id uuid PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE
);
