-- People who sign in to the dashboard (D68), the accounts that they are members of, their sessions, and the links that let them in.
CREATE TABLE users (
    id            BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    email         TEXT    NOT NULL,
    -- The address in the form in which addresses are compared.
    email_key     TEXT    NOT NULL,
    name          TEXT,
    -- With its parameters; NULL if the user cannot sign in with a password.
    password_hash TEXT,
    is_operator   INTEGER NOT NULL CHECK (is_operator IN (0, 1)),
    disabled_at   INTEGER,
    time_zone     TEXT    NOT NULL,
    theme         TEXT    NOT NULL,
    date_language TEXT    NOT NULL,
    has_shortcuts INTEGER NOT NULL CHECK (has_shortcuts IN (0, 1)),
    created_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX users_email ON users (email_key);

CREATE TABLE memberships (
    user_id    BLOB    NOT NULL REFERENCES users (id),
    account_id BLOB    NOT NULL REFERENCES accounts (id),
    role       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, account_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX memberships_of_account ON memberships (account_id);

CREATE TABLE sessions (
    id           BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    token_hash   BLOB    NOT NULL CHECK (length(token_hash) = 32),
    user_id      BLOB    NOT NULL REFERENCES users (id),
    created_at   INTEGER NOT NULL,
    -- The last request, at most a minute too early.
    seen_at      INTEGER NOT NULL,
    -- When the user last gave the password.
    confirmed_at INTEGER NOT NULL,
    is_kept      INTEGER NOT NULL CHECK (is_kept IN (0, 1)),
    agent        TEXT,
    network      TEXT
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX sessions_token ON sessions (token_hash);
CREATE INDEX sessions_of_user ON sessions (user_id, id);
-- A session ends some time after its beginning, and a kept one also after its last request.
CREATE INDEX sessions_age ON sessions (is_kept, created_at);
CREATE INDEX sessions_seen ON sessions (is_kept, seen_at);

CREATE TABLE tickets (
    token_hash  BLOB    NOT NULL PRIMARY KEY CHECK (length(token_hash) = 32),
    kind        TEXT    NOT NULL,
    -- NULL if tickets of this kind are for no address.
    email       TEXT,
    -- The address in the form in which addresses are compared; empty if there is none.
    email_key   TEXT    NOT NULL,
    account_id  BLOB    REFERENCES accounts (id),
    user_id     BLOB    REFERENCES users (id),
    -- NULL if the ticket gives no role in an account.
    role        TEXT,
    is_operator INTEGER NOT NULL CHECK (is_operator IN (0, 1)),
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A newer ticket replaces the older one.
CREATE UNIQUE INDEX tickets_purpose ON tickets (email_key, kind);
CREATE INDEX tickets_of_account ON tickets (account_id);
CREATE INDEX tickets_age ON tickets (expires_at);
