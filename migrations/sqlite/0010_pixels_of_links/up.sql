-- Of redirects only: the ids of its pixels, 16 bytes each, in the order in which they were given. Without a reference to
-- the pixels: an id without a pixel names nothing, so that a pixel can be deleted without a look at any link.
ALTER TABLE links ADD COLUMN pixel_ids BLOB NOT NULL DEFAULT x'' CHECK (length(pixel_ids) % 16 = 0);
