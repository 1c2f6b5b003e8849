-- The hashes of the passwords that visitors must type to open a link (D131). Whether a link has one is in its column behaviour; the
-- hash is read only when a visitor has typed something. Links without a password have no row.
CREATE TABLE link_passwords (
    link_id uuid PRIMARY KEY REFERENCES links (id) ON DELETE CASCADE,
    hash    text NOT NULL CHECK (length(hash) BETWEEN 1 AND 1000)
);
