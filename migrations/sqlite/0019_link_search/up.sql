-- In which links three characters stand beside each other. It holds no text, and says where to look: what a search finds
-- is decided by the rule of the domain, on the links themselves. `link_text` is a function of the program.
CREATE VIRTUAL TABLE link_search USING fts5 (
    text,
    content = '',
    contentless_delete = 1,
    detail = none,
    tokenize = 'trigram case_sensitive 1'
);

INSERT INTO link_search (rowid, text)
SELECT number, link_text(account_id, kind, name, slug, target_url) FROM links ORDER BY number;
