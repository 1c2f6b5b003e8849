-- By this, the links that other accounts than one have on a custom domain are found without a look at that one's, and in
-- the order in which they are held.
CREATE INDEX links_on_host ON links (host, account_id, kind, id) WHERE host <> '';
