-- The tags of an account (D122). The account has each name once, without regard to case.
CREATE TABLE tags (
    id         uuid             PRIMARY KEY,
    account_id uuid             NOT NULL REFERENCES accounts (id),
    name       text COLLATE "C" NOT NULL,
    -- The name with its case folded, by the program's rule: that of PostgreSQL depends on the locale.
    name_key   text COLLATE "C" NOT NULL,
    created_at timestamptz(3)   NOT NULL
);

CREATE UNIQUE INDEX tags_of_name ON tags (account_id, name_key);
CREATE INDEX tags_of_account ON tags (account_id, id);
