-- Who did what (D78). The entries outlive accounts, users and keys, so they refer to none of them.
CREATE TABLE audit_entries (
    id         uuid           PRIMARY KEY,
    -- NULL for the installation, or a user as such.
    account_id uuid,
    -- `user`, `key` or `command`.
    actor      text           NOT NULL,
    -- NULL for commands.
    actor_id   uuid,
    action     text           NOT NULL,
    object     text           NOT NULL,
    network    text,
    at         timestamptz(3) NOT NULL
);

CREATE INDEX audit_entries_of_account ON audit_entries (account_id, id);
-- ASC, because a relative of PostgreSQL would hash the column otherwise.
CREATE INDEX audit_entries_age ON audit_entries (at ASC);
