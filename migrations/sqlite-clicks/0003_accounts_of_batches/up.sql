-- A question reads only waiting batches that have clicks of its account. `accounts` has their ids, 16 bytes each. Without it, all
-- questions read the batch. Large values come last, so the table is made anew.
CREATE TABLE new_click_batches (
    batch    INTEGER PRIMARY KEY,
    source   BLOB    NOT NULL CHECK (length(source) = 16),
    number   INTEGER NOT NULL,
    clicks   INTEGER NOT NULL CHECK (clicks > 0),
    first_at INTEGER NOT NULL,
    last_at  INTEGER NOT NULL,
    accounts BLOB,
    data     BLOB    NOT NULL
) STRICT;

INSERT INTO new_click_batches (batch, source, number, clicks, first_at, last_at, data)
SELECT batch, source, number, clicks, first_at, last_at, data FROM click_batches;

DROP TABLE click_batches;

ALTER TABLE new_click_batches RENAME TO click_batches;

CREATE UNIQUE INDEX click_batches_number ON click_batches (source, number);
