-- By how many milliseconds a link of an account came late, at most: its id is older than one that was there before it.
-- Without a row, none did. The index of texts names links in the order in which they came, a list shows them in the order
-- of their ids, and this is how far a search has to look ahead to turn the one into the other. `link_time` is a function
-- of the program.
CREATE TABLE link_lateness (
    account_id BLOB    NOT NULL REFERENCES accounts (id),
    kind       INTEGER NOT NULL CHECK (kind IN (0, 1)),
    millis     INTEGER NOT NULL CHECK (millis > 0),
    PRIMARY KEY (account_id, kind)
) STRICT, WITHOUT ROWID;

INSERT INTO link_lateness
SELECT account_id, kind, max(link_time(newest) - link_time(id)) AS late
FROM (
    SELECT account_id, kind, id, max(id) OVER (PARTITION BY account_id, kind ORDER BY number) AS newest FROM links
)
GROUP BY account_id, kind
HAVING late > 0;
