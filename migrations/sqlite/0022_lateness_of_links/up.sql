-- The greatest lateness of an account's links: by how many milliseconds a link's id is older than the id of a link that was
-- inserted before it. No row means zero. The search index returns links in their order of insertion, and lists are ordered
-- by id; this number tells a search how far the two orders can differ. `link_time` is a function of the program.
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
