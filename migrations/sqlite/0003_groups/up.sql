-- The account stands in the key, so that the links' foreign key can demand a group of their own account.
CREATE TABLE groups (
    account_id      BLOB    NOT NULL REFERENCES accounts (id),
    id              BLOB    NOT NULL CHECK (length(id) = 16),
    name            TEXT    NOT NULL,
    landings_count  INTEGER NOT NULL DEFAULT 0 CHECK (landings_count >= 0),
    redirects_count INTEGER NOT NULL DEFAULT 0 CHECK (redirects_count >= 0),
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;
