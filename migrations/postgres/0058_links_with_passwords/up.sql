-- The list of the links with a password is a range of this (D126). It is looked for in the JSON text, where no value can contain these
-- quotation marks without a backslash before each.
CREATE INDEX links_with_password ON links (account_id, kind, id) WHERE strpos(behaviour, '"has_password":true') > 0;
