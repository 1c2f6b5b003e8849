-- The id of a link in its owner's own system (D121). At most one link of an account has it.
ALTER TABLE links ADD COLUMN external_id TEXT;

CREATE UNIQUE INDEX links_of_external_id ON links (account_id, external_id) WHERE external_id IS NOT NULL;
