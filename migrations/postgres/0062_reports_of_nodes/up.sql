-- What each node told last about itself, for operators (D69). A node writes its row every ten seconds, and deletes it when it stops;
-- rows of nodes that ended otherwise are deleted after a day. The three arrays are of one length: what fails, when it failed last, and
-- the error. Only heard_at is by the server's clock. It has no index, so that a new report is written beside the old one.
CREATE TABLE node_reports (
    node           uuid             PRIMARY KEY,
    host           text             NOT NULL CHECK (length(host) <= 300),
    version        text             NOT NULL CHECK (length(version) <= 300),
    started_at     timestamptz(3)   NOT NULL,
    heard_at       timestamptz(3)   NOT NULL,
    failing_parts  text[]           NOT NULL,
    failed_at      timestamptz(3)[] NOT NULL,
    errors         text[]           NOT NULL,
    -- NULL if the node records no clicks.
    waiting_clicks bigint           CHECK (waiting_clicks >= 0),
    waiting_bytes  bigint           CHECK (waiting_bytes >= 0),
    -- NULL if no clicks wait.
    waiting_since  timestamptz(3),
    CHECK (cardinality(failing_parts) <= 32),
    CHECK (cardinality(failed_at) = cardinality(failing_parts)),
    CHECK (cardinality(errors) = cardinality(failing_parts)),
    CHECK ((waiting_clicks IS NULL) = (waiting_bytes IS NULL)),
    CHECK (waiting_clicks IS NOT NULL OR waiting_since IS NULL)
) WITH (fillfactor = 50);
