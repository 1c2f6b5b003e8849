CREATE TABLE custom_domains (
    id                BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    account_id        BLOB    NOT NULL REFERENCES accounts (id),
    hostname          TEXT    NOT NULL,
    -- As of the last event; what time alone has done since, readers work out.
    status            TEXT    NOT NULL CHECK (status IN ('pending', 'ssl_pending', 'active', 'failed')),
    -- From when on a domain that is not active yet has failed.
    deadline          INTEGER,
    -- Since when an active domain has pointed elsewhere; NULL if it points here.
    misdirected_since INTEGER,
    created_at        INTEGER NOT NULL,
    -- NULL is no check. A check that is claimed is due again when its claim ends.
    next_check_at     INTEGER,
    checks_made       INTEGER NOT NULL CHECK (checks_made >= 0),
    -- How often the check was claimed and not concluded.
    claims            INTEGER NOT NULL DEFAULT 0 CHECK (claims >= 0),
    CHECK ((status IN ('pending', 'ssl_pending')) = (deadline IS NOT NULL)),
    CHECK (status = 'active' OR misdirected_since IS NULL)
) STRICT, WITHOUT ROWID;

-- A hostname is held by one domain at most. What has failed holds nothing.
CREATE UNIQUE INDEX custom_domains_holder ON custom_domains (hostname) WHERE status <> 'failed';
-- An account has one domain of a name, in whatever state.
CREATE UNIQUE INDEX custom_domains_of_name ON custom_domains (account_id, hostname);
CREATE INDEX custom_domains_of_account ON custom_domains (account_id, id);
-- Checks that are due. One that was claimed 5 times without an end is left alone for long.
CREATE INDEX custom_domains_due ON custom_domains (next_check_at) WHERE next_check_at IS NOT NULL AND claims < 5;
CREATE INDEX custom_domains_given_up ON custom_domains (next_check_at) WHERE next_check_at IS NOT NULL AND claims >= 5;
CREATE INDEX custom_domains_deadline ON custom_domains (deadline) WHERE deadline IS NOT NULL;
