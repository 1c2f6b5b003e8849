-- While the file cannot be written, requests are counted in memory, and merged into request_counts afterwards. How much of
-- such a count was merged already, so that a merge may be repeated. Without a foreign key, as the counts themselves.
CREATE TABLE merged_counts (
    account_id BLOB    NOT NULL CHECK (length(account_id) = 16),
    -- 0 is a minute, 1 a day.
    span       INTEGER NOT NULL CHECK (span IN (0, 1)),
    started_at INTEGER NOT NULL,
    -- The name of the count in memory.
    count_id   BLOB    NOT NULL CHECK (length(count_id) = 16),
    merged     INTEGER NOT NULL CHECK (merged >= 0),
    PRIMARY KEY (account_id, span, started_at, count_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX merged_counts_age ON merged_counts (started_at);

-- One row, which is written to find out whether the file can be written. A row that is written as it is would not touch
-- the file, hence the number. The name is that of the counts in this file.
CREATE TABLE write_trials (
    only_row INTEGER NOT NULL PRIMARY KEY CHECK (only_row = 1),
    name     BLOB    NOT NULL CHECK (length(name) = 16),
    trials   INTEGER NOT NULL DEFAULT 0
) STRICT;

INSERT INTO write_trials (only_row, name) VALUES (1, randomblob(16));
