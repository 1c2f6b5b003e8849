-- What was answered to requests with a key that says that they are one. Without a foreign key to the account: a key is
-- claimed before anything else is looked at, and must not hold the account's row from then on.
CREATE TABLE remembered_answers (
    account_id  uuid           NOT NULL,
    key         text           COLLATE "C" NOT NULL,
    -- SHA-256 of what was asked for.
    fingerprint bytea          NOT NULL,
    -- Of HTTP. 0 is a key that a transaction has claimed and not answered yet; none is committed so.
    status      integer        NOT NULL,
    -- The header of that name, if the answer had one.
    location    text,
    body        text           NOT NULL,
    created_at  timestamptz(3) NOT NULL,
    PRIMARY KEY (account_id, key),
    CHECK (status = 0 OR status BETWEEN 100 AND 999),
    CHECK (octet_length(fingerprint) = CASE WHEN status = 0 THEN 0 ELSE 32 END)
);

-- By this, old answers are found and swept away. ASC, because a relative of PostgreSQL would hash the column otherwise.
CREATE INDEX remembered_answers_age ON remembered_answers (created_at ASC);
