-- Searches compare composed texts (Unicode NFC) since this version, so the index holds them in this form. ASCII is composed
-- already. Slugs are ASCII. `link_text` is a function of the program.
INSERT OR REPLACE INTO link_search (rowid, text)
SELECT number, link_text(account_id, kind, name, slug, target_url) FROM links
WHERE name GLOB '*[^ -~]*' OR target_url GLOB '*[^ -~]*' ORDER BY number;
