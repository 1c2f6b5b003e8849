-- The hashes of the passwords that visitors must type to open a link (D131). Whether a link has one is in its column behaviour; the
-- hash is read only when a visitor has typed something. Links without a password have no row.
CREATE TABLE link_passwords (
    link_id BLOB NOT NULL PRIMARY KEY REFERENCES links (id) ON DELETE CASCADE,
    hash    TEXT NOT NULL CHECK (length(hash) BETWEEN 1 AND 1000)
) STRICT, WITHOUT ROWID;

-- The list of the links with a password is a range of this (D126). It is looked for in the JSON text, where no value can contain these
-- quotation marks without a backslash before each.
CREATE INDEX links_with_password ON links (account_id, kind, id) WHERE instr(behaviour, '"has_password":true') > 0;
