-- What only one node may do at a time: who does it, and until when, by the nodes' clocks.
CREATE TABLE leases (
    name       text           COLLATE "C" PRIMARY KEY,
    holder     uuid           NOT NULL,
    expires_at timestamptz(3) NOT NULL
);
