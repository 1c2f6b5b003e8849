-- Failed attempts to sign in (D75). The key is a hash of the e-mail address and the address of the client.
CREATE TABLE sign_in_counts (
    key      BLOB    NOT NULL PRIMARY KEY CHECK (length(key) = 32),
    failures INTEGER NOT NULL CHECK (failures > 0),
    -- The last failure.
    last_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sign_in_counts_age ON sign_in_counts (last_at);

-- One row: how many rows the table has, because counting them would read them all.
CREATE TABLE sign_in_totals (
    only_row INTEGER NOT NULL PRIMARY KEY CHECK (only_row = 1),
    counts   INTEGER NOT NULL
) STRICT;

INSERT INTO sign_in_totals (only_row, counts) VALUES (1, 0);
