-- Who users are at an identity provider (D77). Only the pair of issuer and subject identifies somebody.
CREATE TABLE identities (
    issuer     text           COLLATE "C" NOT NULL,
    subject    text           COLLATE "C" NOT NULL,
    user_id    uuid           NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at timestamptz(3) NOT NULL,
    PRIMARY KEY (issuer, subject)
);

-- A user has one identity of each issuer.
CREATE UNIQUE INDEX identities_of_user ON identities (user_id, issuer);
