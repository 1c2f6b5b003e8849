-- By this, the links that other accounts than one have on a custom domain are found without a look at that one's.
CREATE INDEX links_on_host ON links (host, account_id) WHERE host <> '';
