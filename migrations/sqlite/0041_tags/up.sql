-- The tags of an account (D122). The account has each name once, without regard to case.
CREATE TABLE tags (
    id         BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    account_id BLOB    NOT NULL REFERENCES accounts (id),
    name       TEXT    NOT NULL,
    -- The name with its case folded, by the program's rule: SQLite knows only that of ASCII.
    name_key   TEXT    NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX tags_of_name ON tags (account_id, name_key);
CREATE INDEX tags_of_account ON tags (account_id, id);
