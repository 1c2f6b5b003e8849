-- Links name a hostname without a reference, since that of the system domain is ''; whoever places one holds the domain
-- meanwhile.
CREATE TABLE custom_domains (
    id                uuid           PRIMARY KEY,
    account_id        uuid           NOT NULL REFERENCES accounts (id),
    hostname          text           COLLATE "C" NOT NULL,
    -- As of the last event; what time alone has done since, readers work out.
    status            text           COLLATE "C" NOT NULL CHECK (status IN ('pending', 'ssl_pending', 'active', 'failed')),
    -- From when on a domain that is not active yet has failed.
    deadline          timestamptz(3),
    -- Since when an active domain has pointed elsewhere; NULL if it points here.
    misdirected_since timestamptz(3),
    created_at        timestamptz(3) NOT NULL,
    -- NULL is no check. A check that is claimed is due again when its claim ends.
    next_check_at     timestamptz(3),
    checks_made       bigint         NOT NULL CHECK (checks_made >= 0),
    -- How often the check was claimed and not concluded.
    claims            integer        NOT NULL DEFAULT 0 CHECK (claims >= 0),
    CHECK ((status IN ('pending', 'ssl_pending')) = (deadline IS NOT NULL)),
    CHECK (status = 'active' OR misdirected_since IS NULL)
);

-- A hostname is held by one domain at most. What has failed holds nothing.
CREATE UNIQUE INDEX custom_domains_holder ON custom_domains (hostname) WHERE status <> 'failed';
-- An account has one domain of a name, in whatever state. The hostname comes first, so that all claims to it lie together.
CREATE UNIQUE INDEX custom_domains_of_name ON custom_domains (hostname, account_id);
CREATE INDEX custom_domains_of_account ON custom_domains (account_id, id);
-- Checks that are due. One that was claimed 5 times without an end is left alone for long. ASC, because a relative of PostgreSQL would
-- hash the column otherwise.
CREATE INDEX custom_domains_due ON custom_domains (next_check_at ASC, id) WHERE next_check_at IS NOT NULL AND claims < 5;
CREATE INDEX custom_domains_given_up ON custom_domains (next_check_at ASC) WHERE next_check_at IS NOT NULL AND claims >= 5;
CREATE INDEX custom_domains_deadline ON custom_domains (deadline ASC) WHERE deadline IS NOT NULL;
