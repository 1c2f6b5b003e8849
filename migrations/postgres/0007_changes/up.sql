-- The change log: a row for each unit of work that changed what visitors see, written together with its COMMIT. Nodes read
-- it by time. Without a foreign key to the account: that it was deleted is a change too.
CREATE TABLE changes (
    id         uuid        PRIMARY KEY DEFAULT gen_random_uuid(),
    -- By the server's clock, and to the microsecond, since readers go by it.
    at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    account_id uuid        NOT NULL,
    -- The addresses, in the forms that `links` has them in. NULL is all links of the account.
    hosts      text[],
    slugs      text[],
    CHECK ((hosts IS NULL) = (slugs IS NULL)),
    CHECK (cardinality(hosts) = cardinality(slugs))
);

-- ASC, because a relative of PostgreSQL would hash the column otherwise.
CREATE INDEX changes_age ON changes (at ASC);

-- One row: the newest of the changes that were forgotten. Who has not read so far has missed some.
CREATE TABLE forgotten_changes (
    is_the_row boolean     PRIMARY KEY CHECK (is_the_row),
    until      timestamptz NOT NULL
);

INSERT INTO forgotten_changes (is_the_row, until) VALUES (true, '-infinity');
