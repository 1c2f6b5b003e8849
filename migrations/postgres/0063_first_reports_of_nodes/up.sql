-- When a node was first heard from, by the server's clock as heard_at is. The start that a node tells is by its own clock, and says
-- nothing about which of two nodes on a machine came later (D69, ADR 91). Nodes never name the column, so that its default holds.
ALTER TABLE node_reports ADD COLUMN first_heard_at timestamptz(3) NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp());
