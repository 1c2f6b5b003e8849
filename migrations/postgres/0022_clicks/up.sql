-- Clicks, as compressed segments (ADR 46, ADR 47). Nothing here refers to accounts or links: their clicks outlive them for
-- some steps, and arrive after they are gone.

-- Who appends, and the number of the last batch: a batch is stored if its number is the next one (D51).
CREATE TABLE click_sources (
    source  uuid        PRIMARY KEY,
    number  bigint      NOT NULL,
    seen_at timestamptz NOT NULL
);

-- The inbox: segments of any accounts and days, as they came.
CREATE TABLE click_batches (
    source   uuid           NOT NULL,
    number   bigint         NOT NULL,
    clicks   integer        NOT NULL CHECK (clicks > 0),
    first_at timestamptz(3) NOT NULL,
    last_at  timestamptz(3) NOT NULL,
    data     bytea          NOT NULL,
    PRIMARY KEY (source, number)
);

-- Batches that packing could not read. They are kept for whoever finds out why.
CREATE TABLE unreadable_click_batches (
    source    uuid        NOT NULL,
    number    bigint      NOT NULL,
    clicks    integer     NOT NULL,
    data      bytea       NOT NULL,
    reason    text        NOT NULL,
    found_at  timestamptz NOT NULL,
    PRIMARY KEY (source, number)
);

-- Segments of one account and day. Links are in the order of their bytes.
CREATE TABLE click_segments (
    account_id uuid    NOT NULL,
    day        integer NOT NULL,
    segment    uuid    NOT NULL DEFAULT gen_random_uuid(),
    sealed     boolean NOT NULL,
    first_link uuid    NOT NULL,
    last_link  uuid    NOT NULL,
    clicks     integer NOT NULL CHECK (clicks > 0),
    data       bytea   NOT NULL,
    PRIMARY KEY (account_id, day, segment)
);

-- What upkeep has done with a day. Whoever changes the clicks of a day holds its row, and moves its version.
CREATE TABLE click_days (
    account_id uuid    NOT NULL,
    day        integer NOT NULL,
    version    bigint  NOT NULL,
    digested   boolean NOT NULL,
    sealed     boolean NOT NULL,
    PRIMARY KEY (account_id, day)
);

CREATE INDEX click_days_to_digest ON click_days (day, account_id) WHERE NOT digested;
CREATE INDEX click_days_to_seal ON click_days (day, account_id) WHERE NOT sealed;

-- The sums of a day: of the account (`scope` is its id), or of one link.
CREATE TABLE click_digests (
    account_id uuid    NOT NULL,
    day        integer NOT NULL,
    scope      uuid    NOT NULL,
    data       bytea   NOT NULL,
    PRIMARY KEY (account_id, day, scope)
);

-- The last click of each link, as of the days that have digests.
CREATE TABLE last_clicks (
    account_id uuid           NOT NULL,
    link_id    uuid           NOT NULL,
    at         timestamptz(3) NOT NULL,
    PRIMARY KEY (account_id, link_id)
);

-- Accounts whose clicks of all days before one were deleted: packing drops what arrives later.
CREATE TABLE forgotten_clicks (
    account_id uuid    PRIMARY KEY,
    before_day integer NOT NULL
);

-- One row, which packers share and which an account's deletion waits for: no packer may store what it read before.
CREATE TABLE click_packers (
    is_the_row boolean PRIMARY KEY CHECK (is_the_row)
);

INSERT INTO click_packers VALUES (true);

CREATE TABLE visitor_keys (
    day integer PRIMARY KEY,
    key bytea   NOT NULL CHECK (octet_length(key) = 32)
);

-- The data is compressed already.
ALTER TABLE click_batches ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE unreadable_click_batches ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE click_segments ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE click_digests ALTER COLUMN data SET STORAGE EXTERNAL;

-- All rows of the inbox are replaced every minute, and most open segments several times a day. With the default settings
-- the dead rows would take several times the space of the live ones.
ALTER TABLE click_batches SET (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
    toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 5000
);
ALTER TABLE click_segments SET (
    autovacuum_vacuum_scale_factor = 0.02, toast.autovacuum_vacuum_scale_factor = 0.02
);
ALTER TABLE click_sources SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
