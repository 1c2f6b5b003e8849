-- What requests with an Idempotency-Key were answered. No reference to accounts: a key is claimed whether or not the
-- account exists. With row ids, because a body can be long: what looks for a key or for an age passes no bodies.
CREATE TABLE remembered_answers (
    account_id  BLOB    NOT NULL CHECK (length(account_id) = 16),
    key         TEXT    NOT NULL,
    -- SHA-256 of what the request asked for.
    fingerprint BLOB    NOT NULL CHECK (length(fingerprint) = 32),
    status      INTEGER NOT NULL CHECK (status BETWEEN 0 AND 65535),
    -- The header Location; NULL if there was none.
    location    TEXT,
    body        TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (account_id, key)
) STRICT;

CREATE INDEX remembered_answers_age ON remembered_answers (created_at);
