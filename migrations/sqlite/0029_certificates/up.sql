-- The certificates of hostnames: the one that is served, the order that is running, and when to act next (D186, D187). Keys are
-- sealed, and this database cannot open them (D192).
CREATE TABLE certificates (
    hostname         TEXT    NOT NULL PRIMARY KEY,
    -- The account whose custom domain it is; NULL for a name of the installation. Without a foreign key: the row is deleted with
    -- its domain.
    account_id       BLOB    CHECK (length(account_id) = 16),
    -- The certificate that is served.
    authority        TEXT,
    chain            BLOB,
    sealed_key       BLOB,
    not_before       INTEGER,
    not_after        INTEGER,
    issuer           TEXT,
    renewal_id       TEXT,
    renew_at         INTEGER,
    -- The order that is running. Without a URL it is unknown whether it was made.
    order_authority  TEXT,
    order_key        BLOB,
    order_url        TEXT,
    order_validating INTEGER NOT NULL DEFAULT 0 CHECK (order_validating IN (0, 1)),
    order_begun_at   INTEGER,
    -- NULL is nothing planned. Work that is claimed is due again when its claim ends.
    next_attempt_at  INTEGER,
    claims           INTEGER NOT NULL DEFAULT 0 CHECK (claims >= 0),
    failures         INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
    last_attempt_at  INTEGER,
    failure_reason   TEXT,
    failure_message  TEXT,
    -- How the authority validates the hostname (D188): `http-01`, `tls-alpn-01`.
    validation_method TEXT   NOT NULL DEFAULT 'http-01',
    CHECK ((authority IS NULL) = (chain IS NULL) AND (authority IS NULL) = (sealed_key IS NULL)),
    CHECK ((order_authority IS NULL) = (order_key IS NULL) AND (order_authority IS NULL) = (order_begun_at IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX certificates_of_account ON certificates (account_id) WHERE account_id IS NOT NULL;
-- Work that is due. What was claimed 5 times without an end is left alone for a day.
CREATE INDEX certificates_due ON certificates (next_attempt_at) WHERE next_attempt_at IS NOT NULL AND claims < 5;
CREATE INDEX certificates_given_up ON certificates (next_attempt_at) WHERE next_attempt_at IS NOT NULL AND claims >= 5;

-- What proves to authorities that a hostname leads here (D188).
CREATE TABLE certificate_challenges (
    token             TEXT    NOT NULL PRIMARY KEY,
    hostname          TEXT    NOT NULL,
    key_authorization TEXT    NOT NULL,
    expires_at        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX certificate_challenges_of_hostname ON certificate_challenges (hostname, expires_at);
CREATE INDEX certificate_challenges_age ON certificate_challenges (expires_at);

-- The installation's account at each authority, and until when the authority wants to be left alone (D190).
CREATE TABLE certificate_authorities (
    directory   TEXT    NOT NULL PRIMARY KEY,
    account_uri TEXT,
    credentials BLOB,
    wait_until  INTEGER,
    CHECK ((account_uri IS NULL) = (credentials IS NULL))
) STRICT, WITHOUT ROWID;

-- What counts against the budgets of orders (D190).
CREATE TABLE order_events (
    id                INTEGER PRIMARY KEY,
    at                INTEGER NOT NULL,
    -- `new`, `renewal`, `plain_renewal` (without naming its predecessor), `failed_new` (it brought no certificate), `failure`.
    kind              TEXT    NOT NULL,
    hostname          TEXT    NOT NULL,
    registered_domain TEXT    NOT NULL
) STRICT;

CREATE INDEX order_events_of_kind ON order_events (kind, at);
CREATE INDEX order_events_of_domain ON order_events (registered_domain, kind, at);
CREATE INDEX order_events_of_hostname ON order_events (hostname, kind, at);
CREATE INDEX order_events_age ON order_events (at);
