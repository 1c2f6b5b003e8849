CREATE TABLE api_keys (
    id         BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    account_id BLOB    NOT NULL REFERENCES accounts (id),
    name       TEXT,
    hash       BLOB    NOT NULL CHECK (length(hash) = 32),
    last_four  TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX api_keys_hash ON api_keys (hash);
CREATE INDEX api_keys_of_account ON api_keys (account_id, id);
