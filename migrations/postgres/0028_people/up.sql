-- People who sign in to the dashboard (D68), the accounts that they are members of, their sessions, and the links that let them in.
CREATE TABLE users (
    id            uuid           PRIMARY KEY,
    email         text           NOT NULL,
    -- The address in the form in which addresses are compared.
    email_key     text           COLLATE "C" NOT NULL,
    name          text,
    -- With its parameters; NULL if the user cannot sign in with a password.
    password_hash text,
    is_operator   boolean        NOT NULL,
    disabled_at   timestamptz(3),
    time_zone     text           NOT NULL,
    theme         text           NOT NULL,
    date_language text           NOT NULL,
    has_shortcuts boolean        NOT NULL,
    created_at    timestamptz(3) NOT NULL
);

CREATE UNIQUE INDEX users_email ON users (email_key);

-- One row, which works like that of `first_account`: a unit of work that finds no user locks it, and so does every insertion of a
-- user. So only one of two concurrent first starts inserts the first user.
CREATE TABLE first_user (
    is_the_row boolean PRIMARY KEY CHECK (is_the_row)
);

INSERT INTO first_user (is_the_row) VALUES (true);

CREATE TABLE memberships (
    user_id    uuid           NOT NULL REFERENCES users (id),
    account_id uuid           NOT NULL REFERENCES accounts (id),
    role       text           NOT NULL,
    created_at timestamptz(3) NOT NULL,
    PRIMARY KEY (user_id, account_id)
);

CREATE INDEX memberships_of_account ON memberships (account_id);

CREATE TABLE sessions (
    id           uuid           PRIMARY KEY,
    token_hash   bytea          NOT NULL CHECK (octet_length(token_hash) = 32),
    user_id      uuid           NOT NULL REFERENCES users (id),
    created_at   timestamptz(3) NOT NULL,
    -- The last request, at most a minute too early.
    seen_at      timestamptz(3) NOT NULL,
    -- When the user last gave the password.
    confirmed_at timestamptz(3) NOT NULL,
    is_kept      boolean        NOT NULL,
    agent        text,
    network      text
);

CREATE UNIQUE INDEX sessions_token ON sessions (token_hash);
CREATE INDEX sessions_of_user ON sessions (user_id, id);
-- A session ends some time after its beginning, and a kept one also after its last request.
CREATE INDEX sessions_age ON sessions (is_kept, created_at);
CREATE INDEX sessions_seen ON sessions (is_kept, seen_at);

CREATE TABLE tickets (
    token_hash  bytea          PRIMARY KEY CHECK (octet_length(token_hash) = 32),
    kind        text           COLLATE "C" NOT NULL,
    -- NULL if tickets of this kind are for no address.
    email       text,
    -- The address in the form in which addresses are compared; empty if there is none.
    email_key   text           COLLATE "C" NOT NULL,
    account_id  uuid           REFERENCES accounts (id),
    user_id     uuid           REFERENCES users (id),
    -- NULL if the ticket gives no role in an account.
    role        text,
    is_operator boolean        NOT NULL,
    created_at  timestamptz(3) NOT NULL,
    expires_at  timestamptz(3) NOT NULL
);

-- A newer ticket replaces the older one.
CREATE UNIQUE INDEX tickets_purpose ON tickets (email_key, kind);
CREATE INDEX tickets_of_account ON tickets (account_id);
-- ASC, because a relative of PostgreSQL would hash the column otherwise.
CREATE INDEX tickets_age ON tickets (expires_at ASC);
