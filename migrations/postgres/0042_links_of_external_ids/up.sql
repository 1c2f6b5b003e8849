-- At most one link of an account has an external id (D121). Apart from the column, because building the index reads the table:
-- here it keeps only writers waiting, and no visitor.
CREATE UNIQUE INDEX links_of_external_id ON links (account_id, external_id) WHERE external_id IS NOT NULL;
