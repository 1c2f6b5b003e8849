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

-- The pixels of a redirect, in the order in which they were given. Without references: an id without a pixel names
-- nothing, so that a pixel can be deleted without a look at the links.
ALTER TABLE links ADD COLUMN pixel_ids uuid[] NOT NULL DEFAULT '{}';

-- NOT VALID, so that the rows that are there already, which all have the default, are not read while everybody waits.
ALTER TABLE links ADD CONSTRAINT links_pixel_ids CHECK (
    cardinality(pixel_ids) <= 10 AND array_position(pixel_ids, NULL) IS NULL AND (kind = 1 OR pixel_ids = '{}')
) NOT VALID;
