-- The certificates of hostnames: the one that is served, the order that is running, and when to act next (D186, D187). Keys are
-- sealed, and this database cannot open them (D192).
CREATE TABLE certificates (
    hostname         text           COLLATE "C" PRIMARY KEY,
    -- The account whose custom domain it is; NULL for a name of the installation. Without a foreign key: the statement that deletes
    -- the domain deletes the row too, and a reference would make insertions lock the account before its domains.
    account_id       uuid,
    -- The certificate that is served.
    authority        text,
    chain            bytea,
    sealed_key       bytea,
    not_before       timestamptz(3),
    not_after        timestamptz(3),
    issuer           text,
    renewal_id       text,
    renew_at         timestamptz(3),
    -- The order that is running. Without a URL it is unknown whether it was made.
    order_authority  text,
    order_key        bytea,
    order_url        text,
    order_validating boolean        NOT NULL DEFAULT false,
    order_begun_at   timestamptz(3),
    -- NULL is nothing planned. Work that is claimed is due again when its claim ends.
    next_attempt_at  timestamptz(3),
    claims           integer        NOT NULL DEFAULT 0 CHECK (claims >= 0),
    failures         bigint         NOT NULL DEFAULT 0 CHECK (failures >= 0),
    last_attempt_at  timestamptz(3),
    failure_reason   text,
    failure_message  text,
    -- How the authority validates the hostname (D188): `http-01`, `tls-alpn-01`.
    validation_method text   COLLATE "C" NOT NULL DEFAULT 'http-01',
    CHECK ((authority IS NULL) = (chain IS NULL) AND (authority IS NULL) = (sealed_key IS NULL)),
    CHECK ((order_authority IS NULL) = (order_key IS NULL) AND (order_authority IS NULL) = (order_begun_at IS NULL))
);

CREATE INDEX certificates_of_account ON certificates (account_id) WHERE account_id IS NOT NULL;
-- Work that is due. What was claimed 5 times without an end is left alone for a day. ASC, because a relative of PostgreSQL would
-- hash the column otherwise.
CREATE INDEX certificates_due ON certificates (next_attempt_at ASC, hostname) WHERE next_attempt_at IS NOT NULL AND claims < 5;
CREATE INDEX certificates_given_up ON certificates (next_attempt_at ASC, hostname)
    WHERE next_attempt_at IS NOT NULL AND claims >= 5;

-- What proves to authorities that a hostname leads here (D188). The reference deletes the challenges with their row, also one that another node is just
-- writing.
CREATE TABLE certificate_challenges (
    token             text           COLLATE "C" PRIMARY KEY,
    hostname          text           COLLATE "C" NOT NULL REFERENCES certificates (hostname) ON DELETE CASCADE,
    key_authorization text           NOT NULL,
    expires_at        timestamptz(3) NOT NULL
);

CREATE INDEX certificate_challenges_of_hostname ON certificate_challenges (hostname, expires_at);
CREATE INDEX certificate_challenges_age ON certificate_challenges (expires_at ASC);

-- The installation's account at each authority, and until when the authority wants to be left alone (D190).
CREATE TABLE certificate_authorities (
    directory   text           COLLATE "C" PRIMARY KEY,
    account_uri text,
    credentials bytea,
    wait_until  timestamptz(3),
    CHECK ((account_uri IS NULL) = (credentials IS NULL))
);

-- What counts against the budgets of orders (D190). Without a reference to the hostname's row: the events count after it is deleted.
CREATE TABLE order_events (
    id                uuid           PRIMARY KEY DEFAULT gen_random_uuid(),
    at                timestamptz(3) NOT NULL,
    -- `new`, `renewal`, `plain_renewal` (without naming its predecessor), `failed_new` (it brought no certificate), `failure`.
    kind              text           COLLATE "C" NOT NULL,
    hostname          text           COLLATE "C" NOT NULL,
    registered_domain text           COLLATE "C" NOT NULL
);

CREATE INDEX order_events_of_kind ON order_events (kind, at);
CREATE INDEX order_events_of_domain ON order_events (registered_domain, kind, at);
CREATE INDEX order_events_of_hostname ON order_events (hostname, kind, at);
CREATE INDEX order_events_age ON order_events (at ASC);

-- One row, which every order locks while it counts and spends. So no two nodes spend the same rest of a budget.
CREATE TABLE order_budget (
    is_the_row boolean PRIMARY KEY CHECK (is_the_row)
);

INSERT INTO order_budget (is_the_row) VALUES (true);
