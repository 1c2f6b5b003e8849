-- Of landing pages only: what is on one, as JSON; NULL if that is nothing. The last column, because it can be long: what
-- does not ask for it does not read it.
ALTER TABLE links ADD COLUMN page TEXT;
