-- Requests admitted in a calendar minute and a calendar day. Without a foreign key to the account: counts are kept of
-- whatever account is asked about, as any other store of counts would.
CREATE TABLE request_counts (
    account_id BLOB    NOT NULL CHECK (length(account_id) = 16),
    -- 0 is a minute, 1 a day.
    span       INTEGER NOT NULL CHECK (span IN (0, 1)),
    -- When the minute or the day began, in milliseconds since 1970.
    started_at INTEGER NOT NULL,
    admitted   INTEGER NOT NULL CHECK (admitted > 0),
    PRIMARY KEY (account_id, span, started_at)
) STRICT, WITHOUT ROWID;

-- By this, old counts are found and swept away.
CREATE INDEX request_counts_age ON request_counts (started_at);
