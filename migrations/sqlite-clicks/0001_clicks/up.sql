-- "SIGC": by this number a program knows the file for one with clicks before it touches it.
PRAGMA application_id = 1397311299;

-- Clicks, as compressed segments (ADR 46, ADR 47), in a file beside the database. Nothing here refers to accounts or links:
-- their clicks outlive them for some steps, and arrive after they are gone.

-- Who appends, and the number of the last batch: a batch is stored if its number is the next one (D51).
CREATE TABLE click_sources (
    source  BLOB    NOT NULL PRIMARY KEY CHECK (length(source) = 16),
    number  INTEGER NOT NULL,
    seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The inbox: segments of any accounts and days, as they came. Large values come last, so that the others are read without
-- them.
CREATE TABLE click_batches (
    batch    INTEGER PRIMARY KEY,
    source   BLOB    NOT NULL CHECK (length(source) = 16),
    number   INTEGER NOT NULL,
    clicks   INTEGER NOT NULL CHECK (clicks > 0),
    first_at INTEGER NOT NULL,
    last_at  INTEGER NOT NULL,
    data     BLOB    NOT NULL
) STRICT;

-- Batches that packing could not read. They are kept for whoever finds out why.
CREATE TABLE unreadable_click_batches (
    source   BLOB    NOT NULL CHECK (length(source) = 16),
    number   INTEGER NOT NULL,
    clicks   INTEGER NOT NULL,
    found_at INTEGER NOT NULL,
    reason   TEXT    NOT NULL,
    data     BLOB    NOT NULL
) STRICT;

-- Segments of one account and day. Links are in the order of their bytes.
CREATE TABLE click_segments (
    segment    INTEGER PRIMARY KEY,
    account_id BLOB    NOT NULL CHECK (length(account_id) = 16),
    day        INTEGER NOT NULL,
    sealed     INTEGER NOT NULL CHECK (sealed IN (0, 1)),
    first_link BLOB    NOT NULL CHECK (length(first_link) = 16),
    last_link  BLOB    NOT NULL CHECK (length(last_link) = 16),
    clicks     INTEGER NOT NULL CHECK (clicks > 0),
    data       BLOB    NOT NULL
) STRICT;

CREATE INDEX click_segments_day ON click_segments (account_id, day, first_link, last_link);

-- What upkeep has done with a day. Whoever changes the clicks of a day moves its version.
CREATE TABLE click_days (
    account_id BLOB    NOT NULL CHECK (length(account_id) = 16),
    day        INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    digested   INTEGER NOT NULL CHECK (digested IN (0, 1)),
    sealed     INTEGER NOT NULL CHECK (sealed IN (0, 1)),
    PRIMARY KEY (account_id, day)
) STRICT, WITHOUT ROWID;

CREATE INDEX click_days_to_digest ON click_days (day, account_id) WHERE digested = 0;
CREATE INDEX click_days_to_seal ON click_days (day, account_id) WHERE sealed = 0;

-- The sums of a day: of the account (`scope` is its id), or of one link.
CREATE TABLE click_digests (
    account_id BLOB    NOT NULL CHECK (length(account_id) = 16),
    day        INTEGER NOT NULL,
    scope      BLOB    NOT NULL CHECK (length(scope) = 16),
    data       BLOB    NOT NULL
) STRICT;

CREATE UNIQUE INDEX click_digests_day ON click_digests (account_id, day, scope);

-- The last click of each link, as of the days that have digests.
CREATE TABLE last_clicks (
    account_id BLOB    NOT NULL CHECK (length(account_id) = 16),
    link_id    BLOB    NOT NULL CHECK (length(link_id) = 16),
    at         INTEGER NOT NULL,
    PRIMARY KEY (account_id, link_id)
) STRICT, WITHOUT ROWID;

-- Accounts whose clicks of all days before one were deleted: packing drops what arrives later.
CREATE TABLE forgotten_clicks (
    account_id BLOB    NOT NULL PRIMARY KEY CHECK (length(account_id) = 16),
    before_day INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE visitor_keys (
    day INTEGER PRIMARY KEY,
    key BLOB    NOT NULL CHECK (length(key) = 32)
) STRICT;
