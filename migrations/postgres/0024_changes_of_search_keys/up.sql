-- Triggers, because nodes of the version before insert and change links too. Rows rather than statements with transition
-- tables, which relatives of PostgreSQL do not know. Creating them waits for all who write links, so that nobody
-- changes a link unnoticed from then on.
CREATE TRIGGER links_search_inserted AFTER INSERT ON links
    FOR EACH ROW EXECUTE FUNCTION note_search_change();

CREATE TRIGGER links_search_updated AFTER UPDATE ON links
    FOR EACH ROW WHEN (
        OLD.search_key IS DISTINCT FROM NEW.search_key OR OLD.kind <> NEW.kind
        OR OLD.account_id <> NEW.account_id OR OLD.id <> NEW.id
    )
    EXECUTE FUNCTION note_search_change();
