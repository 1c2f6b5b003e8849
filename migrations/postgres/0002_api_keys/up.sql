CREATE TABLE api_keys (
    id         uuid           PRIMARY KEY,
    account_id uuid           NOT NULL REFERENCES accounts (id),
    name       text,
    hash       bytea          NOT NULL CHECK (octet_length(hash) = 32),
    last_four  text           NOT NULL,
    created_at timestamptz(3) NOT NULL,
    revoked_at timestamptz(3)
);

CREATE UNIQUE INDEX api_keys_hash ON api_keys (hash);
CREATE INDEX api_keys_of_account ON api_keys (account_id, id);
