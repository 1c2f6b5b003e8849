-- Texts that are compared or searched for are compared by their bytes: an order that depends on the operating system
-- would break the indexes when that is upgraded.
CREATE TABLE accounts (
    id            uuid           PRIMARY KEY,
    email         text           NOT NULL,
    -- The address in the form in which addresses are compared.
    email_key     text           COLLATE "C" NOT NULL,
    name          text,
    plan          text           NOT NULL,
    suspended_at  timestamptz(3),
    created_at    timestamptz(3) NOT NULL,
    -- How much the account has of what plans limit; moved with the things that they count.
    links_count   bigint         NOT NULL DEFAULT 0 CHECK (links_count >= 0),
    groups_count  bigint         NOT NULL DEFAULT 0 CHECK (groups_count >= 0),
    domains_count bigint         NOT NULL DEFAULT 0 CHECK (domains_count >= 0),
    pixels_count  bigint         NOT NULL DEFAULT 0 CHECK (pixels_count >= 0)
) WITH (fillfactor = 80);

CREATE UNIQUE INDEX accounts_email ON accounts (email_key);
