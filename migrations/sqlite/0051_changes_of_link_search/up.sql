-- Builds the text index of links again, so that a changed or deleted link withdraws its former text and leaves no tombstone (ADR 92).
-- SQLite merges tombstones of many links at once, which held the writer for seconds. `link_text` is a function of the program.
DROP TABLE link_search;

CREATE VIRTUAL TABLE link_search USING fts5 (
    text,
    content = '',
    detail = none,
    columnsize = 0,
    tokenize = 'trigram case_sensitive 1'
);

-- No link has these numbers. SQLite refuses to withdraw more texts, or more characters, than it has counted, which happens after
-- another program has changed or inserted links behind the index. A thousand texts of a thousand characters that no search asks for
-- keep the counts positive.
WITH RECURSIVE numbers (number) AS (VALUES (-999) UNION ALL SELECT number + 1 FROM numbers WHERE number < 0)
INSERT INTO link_search (rowid, text) SELECT number, replace(hex(zeroblob(500)), '0', char(1)) FROM numbers;

INSERT INTO link_search (rowid, text)
SELECT number, link_text(account_id, kind, name, slug, target_url) FROM links ORDER BY number;
