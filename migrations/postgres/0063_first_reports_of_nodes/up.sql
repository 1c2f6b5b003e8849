-- When a node was first heard from, by the server's clock as heard_at is. The start time that a node reports is by its own clock, and
-- does not tell which of two nodes on a machine came later (D69, ADR 91). Nodes never name the column, so that its default holds.
ALTER TABLE node_reports ADD COLUMN first_heard_at timestamptz(3) NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp());

-- For the nodes that report already, their own clocks are all there is.
UPDATE node_reports SET first_heard_at = least(started_at, heard_at);
