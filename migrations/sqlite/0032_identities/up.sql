-- Who users are at an identity provider (D77). Only the pair of issuer and subject identifies somebody.
CREATE TABLE identities (
    issuer     TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    user_id    BLOB    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;

-- A user has one identity of each issuer.
CREATE UNIQUE INDEX identities_of_user ON identities (user_id, issuer);
