-- Failed attempts to sign in (D75). The key is a hash of the e-mail address and the address of the client.
CREATE TABLE sign_in_counts (
    key      bytea          PRIMARY KEY CHECK (octet_length(key) = 32),
    -- 0 only within the transaction that inserts the row.
    failures bigint         NOT NULL CHECK (failures >= 0),
    -- The last failure.
    last_at  timestamptz(3) NOT NULL
);

-- ASC, because a relative of PostgreSQL would hash the column otherwise.
CREATE INDEX sign_in_counts_age ON sign_in_counts (last_at ASC);

-- One row: how many rows the table has, because counting them would read them all.
CREATE TABLE sign_in_totals (
    is_the_row boolean PRIMARY KEY CHECK (is_the_row),
    counts     bigint  NOT NULL
) WITH (fillfactor = 50);

INSERT INTO sign_in_totals (is_the_row, counts) VALUES (true, 0);
