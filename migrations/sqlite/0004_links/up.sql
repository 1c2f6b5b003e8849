-- Landing pages and redirects share one address space, so they share one table.
-- With a rowid, other than its neighbours: rows are wide (a target alone has up to 2048 characters), and a tree that
-- is sorted by a row number keeps them in its leaves only.
CREATE TABLE links (
    id                BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    account_id        BLOB    NOT NULL REFERENCES accounts (id),
    -- 0 is a landing page, 1 a redirect.
    kind              INTEGER NOT NULL CHECK (kind IN (0, 1)),
    -- A landing page's title, a redirect's name.
    name              TEXT    NOT NULL,
    -- Where the link lives: '' on the system domain, which can so move without a rewrite; the hostname on a custom
    -- domain; NULL nowhere, because its domain was removed.
    host              TEXT,
    -- '' is no slug: the root of a custom domain, or a lost link that had none.
    slug              TEXT    NOT NULL,
    is_active         INTEGER NOT NULL CHECK (is_active IN (0, 1)),
    note              TEXT,
    group_id          BLOB,
    analytics_enabled INTEGER NOT NULL CHECK (analytics_enabled IN (0, 1)),
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL,
    -- Of redirects only.
    target_url        TEXT,
    antibot_enabled   INTEGER NOT NULL DEFAULT 0 CHECK (antibot_enabled IN (0, 1)),
    -- Two-letter country codes, separated by commas, in the order in which they were given.
    geo_blocklist     TEXT    NOT NULL DEFAULT '',
    FOREIGN KEY (account_id, group_id) REFERENCES groups (account_id, id),
    CHECK (host IS NOT '' OR slug <> ''),
    CHECK ((kind = 1) = (target_url IS NOT NULL))
) STRICT;

-- An address names at most one link. NULL is never equal to NULL, so lost links are in nobody's way.
CREATE UNIQUE INDEX links_address ON links (host, slug);

-- Each list of an account's links is one range of one of these, read from its end. In all of them the order within
-- the range is that of the ids.
CREATE INDEX links_of_account ON links (account_id, kind, id);
CREATE INDEX links_of_activity ON links (account_id, is_active, kind, id);
CREATE INDEX links_of_group ON links (account_id, group_id, kind, id);
CREATE INDEX links_of_host ON links (account_id, host, kind, id);
