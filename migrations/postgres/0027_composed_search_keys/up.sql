-- Searches compare composed texts (Unicode NFC) since this version. Nodes of the previous version that still run write keys
-- that may not be composed; such a link is found by the form that its text has until the text changes. So are links on
-- databases without `normalize`, which PostgreSQL has since version 13 for UTF-8. Rows are locked in the order of ids, as
-- nodes lock them. The triggers of the table note the changed keys for the search index.
DO $$
BEGIN
    IF current_setting('server_version_num')::integer >= 130000 AND current_setting('server_encoding') = 'UTF8' THEN
        EXECUTE 'WITH changed AS ('
            'SELECT l.id FROM links AS l WHERE l.search_key IS NOT NFC NORMALIZED ORDER BY l.id FOR UPDATE'
            ') UPDATE links AS l SET search_key = normalize(l.search_key, NFC) FROM changed AS c WHERE l.id = c.id';
    END IF;
END
$$;
