-- Landing pages and redirects share one address space, so they share one table.
CREATE TABLE links (
    id                uuid           PRIMARY KEY,
    account_id        uuid           NOT NULL REFERENCES accounts (id),
    -- 0 is a landing page, 1 a redirect.
    kind              smallint       NOT NULL CHECK (kind IN (0, 1)),
    -- A landing page's title, a redirect's name.
    name              text           NOT NULL,
    -- Where the link lives: '' on the system domain, which can so move without a rewrite; the hostname on a custom
    -- domain; NULL nowhere, because its domain was removed.
    host              text           COLLATE "C",
    -- '' is no slug: the root of a custom domain, or a lost link that had none.
    slug              text           COLLATE "C" NOT NULL,
    is_active         boolean        NOT NULL,
    note              text,
    group_id          uuid,
    analytics_enabled boolean        NOT NULL,
    created_at        timestamptz(3) NOT NULL,
    updated_at        timestamptz(3) NOT NULL,
    -- Of redirects only.
    target_url        text,
    antibot_enabled   boolean        NOT NULL DEFAULT false,
    -- Two-letter country codes, separated by commas, in the order in which they were given.
    geo_blocklist     text           NOT NULL DEFAULT '',
    -- Name, slug and target without regard to case, for the search of the lists. The program writes it: the rule is
    -- Unicode's, and the server knows another.
    search_key        text           COLLATE "C" NOT NULL,
    FOREIGN KEY (account_id, group_id) REFERENCES groups (account_id, id),
    CHECK (host IS DISTINCT FROM '' OR slug <> ''),
    CHECK ((kind = 1) = (target_url IS NOT NULL))
);

-- An address names at most one link. NULL is never equal to NULL, so lost links are in nobody's way.
CREATE UNIQUE INDEX links_address ON links (host, slug);

-- Each list of an account's links is one range of one of these, read from its end. In all of them the order within
-- the range is that of the ids.
CREATE INDEX links_of_account ON links (account_id, kind, id);
CREATE INDEX links_of_activity ON links (account_id, is_active, kind, id);
CREATE INDEX links_of_host ON links (account_id, host, kind, id);
-- Two, because PostgreSQL does not see that rows without a group are in the order of their ids in the first.
CREATE INDEX links_of_group ON links (account_id, group_id, kind, id) WHERE group_id IS NOT NULL;
CREATE INDEX links_without_group ON links (account_id, kind, id) WHERE group_id IS NULL;
