-- What only one program may do at a time: which one does it, and until when.
CREATE TABLE leases (
    name       TEXT    NOT NULL PRIMARY KEY,
    holder     BLOB    NOT NULL CHECK (length(holder) = 16),
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
