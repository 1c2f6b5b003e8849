-- What is on a landing page, as JSON; NULL is an empty page. Text rather than `jsonb`: widgets of kinds that the program
-- does not know must come back as they were sent. The last column, because no list reads it.
ALTER TABLE links ADD COLUMN page text;

-- NOT VALID, so that the rows that are there already, none of which has one, are not read while everybody waits.
ALTER TABLE links ADD CONSTRAINT links_page CHECK (kind = 0 OR page IS NULL) NOT VALID;
