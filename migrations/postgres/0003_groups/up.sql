-- The account stands in the key, so that the links' foreign key can demand a group of their own account. Room is left
-- on each page, because the counts move often: a row that finds room on its own page needs no new index entries.
CREATE TABLE groups (
    account_id      uuid           NOT NULL REFERENCES accounts (id),
    id              uuid           NOT NULL,
    name            text           NOT NULL,
    landings_count  bigint         NOT NULL DEFAULT 0 CHECK (landings_count >= 0),
    redirects_count bigint         NOT NULL DEFAULT 0 CHECK (redirects_count >= 0),
    created_at      timestamptz(3) NOT NULL,
    updated_at      timestamptz(3) NOT NULL,
    PRIMARY KEY (account_id, id)
) WITH (fillfactor = 80);
