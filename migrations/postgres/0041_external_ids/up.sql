-- The id of a link in its owner's own system (D121).
ALTER TABLE links ADD COLUMN external_id text COLLATE "C";
