-- How many visits a redirect sends on at most, and how many clicks the node has taken of that (D128, D130). Links without a limit
-- have no row. The column since names the count: clicks taken of an earlier limit do not come back into it.
CREATE TABLE link_credits (
    link_id    BLOB NOT NULL PRIMARY KEY REFERENCES links (id) ON DELETE CASCADE,
    max_clicks INTEGER NOT NULL CHECK (max_clicks BETWEEN 1 AND 1000000000),
    taken      INTEGER NOT NULL CHECK (taken >= 0),
    since      INTEGER NOT NULL CHECK (since >= 1)
) STRICT, WITHOUT ROWID;
