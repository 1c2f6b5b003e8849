-- The pixels of a redirect, in the order in which they were given. Without references: an id without a pixel names
-- nothing, so that a pixel can be deleted without a look at the links.
ALTER TABLE links ADD COLUMN pixel_ids uuid[] NOT NULL DEFAULT '{}';

-- NOT VALID, so that the rows that are there already, which all have the default, are not read while everybody waits.
ALTER TABLE links ADD CONSTRAINT links_pixel_ids CHECK (
    cardinality(pixel_ids) <= 10 AND array_position(pixel_ids, NULL) IS NULL AND (kind = 1 OR pixel_ids = '{}')
) NOT VALID;

-- What is on a landing page, as JSON; NULL is an empty page. Text rather than `jsonb`: widgets of kinds that the program
-- does not know must come back as they were sent. The last column, because no list reads it.
ALTER TABLE links ADD COLUMN page text;

ALTER TABLE links ADD CONSTRAINT links_page CHECK (kind = 0 OR page IS NULL) NOT VALID;
