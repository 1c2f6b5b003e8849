-- Links get a number of their own, by which the index of their texts names them. It is the row id that every row has; but
-- SQLite keeps a row id for good only if a column is called for it.
CREATE TABLE numbered_links (
    number            INTEGER NOT NULL PRIMARY KEY,
    id                BLOB    NOT NULL UNIQUE CHECK (length(id) = 16),
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
    -- Of redirects only: the ids of its pixels, 16 bytes each, in the order in which they were given. Without a reference
    -- to the pixels: an id without a pixel names nothing, so that a pixel can be deleted without a look at any link.
    pixel_ids         BLOB    NOT NULL DEFAULT x'' CHECK (length(pixel_ids) % 16 = 0),
    -- Of landing pages only: what is on one, as JSON; NULL if that is nothing. The last column, because it can be long:
    -- what does not ask for it does not read it.
    page              TEXT,
    FOREIGN KEY (account_id, group_id) REFERENCES groups (account_id, id),
    CHECK (host IS NOT '' OR slug <> ''),
    CHECK ((kind = 1) = (target_url IS NOT NULL))
) STRICT;

INSERT INTO numbered_links
SELECT rowid, id, account_id, kind, name, host, slug, is_active, note, group_id, analytics_enabled, created_at, updated_at,
    target_url, antibot_enabled, geo_blocklist, pixel_ids, page
FROM links;

DROP TABLE links;
ALTER TABLE numbered_links RENAME TO links;

-- An address names at most one link. NULL is never equal to NULL, so lost links are in nobody's way.
CREATE UNIQUE INDEX links_address ON links (host, slug);

-- Each list of an account's links is one range of one of these, read from its end. In all of them the order within
-- the range is that of the ids.
CREATE INDEX links_of_account ON links (account_id, kind, id);
CREATE INDEX links_of_activity ON links (account_id, is_active, kind, id);
CREATE INDEX links_of_group ON links (account_id, group_id, kind, id);
CREATE INDEX links_of_host ON links (account_id, host, kind, id);

-- By this, the links that other accounts than one have on a custom domain are found without a look at that one's.
CREATE INDEX links_on_host ON links (host, account_id) WHERE host <> '';
