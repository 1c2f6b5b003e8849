-- "SIGN": by this number a program knows the file for one of ours before it touches it.
PRAGMA application_id = 1397311310;

-- Small rows with a key of 16 bytes: without a rowid, one search tree holds both.
CREATE TABLE accounts (
    id            BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    email         TEXT    NOT NULL,
    -- The address in the form in which addresses are compared.
    email_key     TEXT    NOT NULL,
    name          TEXT,
    plan          TEXT    NOT NULL,
    suspended_at  INTEGER,
    created_at    INTEGER NOT NULL,
    -- How much the account has of what plans limit; moved with the things that they count.
    links_count   INTEGER NOT NULL DEFAULT 0 CHECK (links_count >= 0),
    groups_count  INTEGER NOT NULL DEFAULT 0 CHECK (groups_count >= 0),
    domains_count INTEGER NOT NULL DEFAULT 0 CHECK (domains_count >= 0),
    pixels_count  INTEGER NOT NULL DEFAULT 0 CHECK (pixels_count >= 0)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX accounts_email ON accounts (email_key);
