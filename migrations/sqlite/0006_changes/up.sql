-- The change log: a row for each unit of work that changed what visitors see. AUTOINCREMENT, because readers go by the
-- number, and it must not be given out again when rows are forgotten. Without a foreign key to the account: that it was
-- deleted is a change too.
CREATE TABLE changes (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    -- By this machine's clock.
    at         INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
    account_id BLOB    NOT NULL CHECK (length(account_id) = 16),
    -- A line for each address: the host and the slug, in the forms that `links` has them in, and a slash between them.
    -- NULL is all links of the account.
    addresses  TEXT
) STRICT;

-- By this, old rows are found.
CREATE INDEX changes_age ON changes (at);
