-- Who did what (D78). The entries outlive accounts, users and keys, so they refer to none of them.
CREATE TABLE audit_entries (
    id         BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    -- NULL for the installation, or a user as such.
    account_id BLOB    CHECK (length(account_id) = 16),
    -- `user`, `key` or `command`.
    actor      TEXT    NOT NULL,
    -- NULL for commands.
    actor_id   BLOB    CHECK (length(actor_id) = 16),
    action     TEXT    NOT NULL,
    object     TEXT    NOT NULL,
    network    TEXT,
    at         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX audit_entries_of_account ON audit_entries (account_id, id);
CREATE INDEX audit_entries_age ON audit_entries (at);
