CREATE TABLE pixels (
    id         uuid           PRIMARY KEY,
    account_id uuid           NOT NULL REFERENCES accounts (id),
    -- The word by which the API knows the type.
    type       text           NOT NULL,
    -- What the pixel's provider knows it by.
    code       text           NOT NULL,
    name       text,
    created_at timestamptz(3) NOT NULL
);

CREATE INDEX pixels_of_account ON pixels (account_id, id);
