-- How many visits a redirect sends on at most, and how many clicks nodes have taken of that (D128, D130). Links without a limit have
-- no row. A table of its own, because nodes write it while visitors come, and rows of links are wide and have many indexes. The
-- column since names the count: clicks taken of an earlier limit do not come back into it.
CREATE TABLE link_credits (
    link_id    uuid PRIMARY KEY REFERENCES links (id) ON DELETE CASCADE,
    max_clicks bigint NOT NULL CHECK (max_clicks BETWEEN 1 AND 1000000000),
    taken      bigint NOT NULL CHECK (taken >= 0),
    since      bigint NOT NULL CHECK (since >= 1)
) WITH (fillfactor = 50);
