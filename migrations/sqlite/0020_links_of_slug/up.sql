-- By this, the links of an account with one slug are found, on whatever domain they are, and those without one too.
CREATE INDEX links_of_slug ON links (account_id, slug, kind, id);
