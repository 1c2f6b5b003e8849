-- The index of the searches (ADR 52). A job writes it, after the requests that write the links.

-- Up to which link the links of an account and kind are sealed: changes of these are noted in `search_changes`. NULL is none.
-- Whoever inserts a link or changes its texts holds the row `FOR KEY SHARE` until its transaction ends; whoever moves
-- `sealed_until` holds it `FOR UPDATE`, and so sees all that the others have written without noting it.
CREATE TABLE search_states (
    account_id   uuid     NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    kind         smallint NOT NULL,
    sealed_until uuid,
    PRIMARY KEY (account_id, kind)
);

-- Sealed links that were inserted, or whose texts changed, since their segment was written. A link may have several rows:
-- a segment that is written takes back those that it has read, and no later one.
CREATE TABLE search_changes (
    account_id uuid     NOT NULL,
    kind       smallint NOT NULL,
    id         uuid     NOT NULL DEFAULT gen_random_uuid(),
    link_id    uuid     NOT NULL,
    PRIMARY KEY (account_id, kind, id),
    FOREIGN KEY (account_id, kind) REFERENCES search_states (account_id, kind) ON DELETE CASCADE
);

-- Segments: the links of an account and kind above `after_id`, up to `last_id`. A segment may list links at or below `after_id`;
-- another segment has these. Without a reference to the account: the segments outlive it, and the job deletes them one by one.
CREATE TABLE search_segments (
    id         uuid     PRIMARY KEY,
    account_id uuid     NOT NULL,
    kind       smallint NOT NULL,
    after_id   uuid     NOT NULL,
    last_id    uuid     NOT NULL,
    links      integer  NOT NULL CHECK (links BETWEEN 1 AND 16384),
    -- How many buckets a row of `search_buckets` has.
    width      smallint NOT NULL CHECK (width BETWEEN 1 AND 16),
    -- The ids of the links in their order, 16 bytes each.
    ids        bytea    NOT NULL CHECK (octet_length(ids) = 16 * links)
);

CREATE UNIQUE INDEX search_segments_of_account ON search_segments (account_id, kind, last_id);

-- By chunks of buckets, the positions of the links of a segment that have a piece of this bucket.
CREATE TABLE search_buckets (
    segment uuid     NOT NULL,
    chunk   smallint NOT NULL,
    data    bytea    NOT NULL,
    PRIMARY KEY (segment, chunk)
);

-- Single ids are read from the middle, so they must not be compressed. Chunks have 3 KiB and some bytes at most.
ALTER TABLE search_segments ALTER COLUMN ids SET STORAGE EXTERNAL;
ALTER TABLE search_buckets ALTER COLUMN data SET STORAGE PLAIN;

-- Small segments are replaced soon. With the default settings the dead rows would take as much space as the live ones.
ALTER TABLE search_buckets SET (autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE search_segments SET (
    autovacuum_vacuum_scale_factor = 0.05, toast.autovacuum_vacuum_scale_factor = 0.05
);

-- Notes a link that was inserted, or whose texts changed, if it is sealed.
CREATE FUNCTION note_search_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    until uuid;
BEGIN
    LOOP
        SELECT s.sealed_until INTO until FROM search_states AS s
            WHERE s.account_id = NEW.account_id AND s.kind = NEW.kind
            FOR KEY SHARE;
        EXIT WHEN FOUND;
        INSERT INTO search_states (account_id, kind) VALUES (NEW.account_id, NEW.kind) ON CONFLICT DO NOTHING;
    END LOOP;
    IF NEW.id <= until THEN
        INSERT INTO search_changes (account_id, kind, link_id) VALUES (NEW.account_id, NEW.kind, NEW.id);
    END IF;
    RETURN NULL;
END
$$;

-- The newest links of an account and kind from `from_id` on, and below `below_id`, that have `part` in their texts; no more
-- than `at_most`. A function, because no query ends there: a scan goes on behind a comparison of whole rows that fails in
-- the third column, and told that the columns are equal, PostgreSQL may read the ids of all accounts.
CREATE FUNCTION walk_links(
    of_account uuid, of_kind smallint, from_id uuid, below_id uuid, part text, at_most integer
) RETURNS SETOF uuid LANGUAGE plpgsql STABLE AS $$
DECLARE
    below uuid := below_id;
    found_links integer := 0;
    read_links integer;
    link record;
BEGIN
    LOOP
        read_links := 0;
        FOR link IN
            SELECT l.id, strpos(l.search_key, part) > 0 AS matches FROM links AS l
            WHERE (l.account_id, l.kind) >= (of_account, of_kind)
                AND (l.account_id, l.kind, l.id) < (of_account, of_kind, below)
            ORDER BY l.account_id DESC, l.kind DESC, l.id DESC LIMIT 250
        LOOP
            IF link.id < from_id THEN
                RETURN;
            END IF;
            read_links := read_links + 1;
            below := link.id;
            IF link.matches THEN
                RETURN NEXT link.id;
                found_links := found_links + 1;
                IF found_links >= at_most THEN
                    RETURN;
                END IF;
            END IF;
        END LOOP;
        IF read_links < 250 THEN
            RETURN;
        END IF;
    END LOOP;
END
$$;
