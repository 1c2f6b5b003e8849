CREATE TABLE pixels (
    id         BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    account_id BLOB    NOT NULL REFERENCES accounts (id),
    pixel_type TEXT    NOT NULL,
    -- What the vendor calls the pixel, in the form that its type has.
    code       TEXT    NOT NULL,
    name       TEXT,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX pixels_of_account ON pixels (account_id, id);
