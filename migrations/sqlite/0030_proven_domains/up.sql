-- The hostnames that may have certificates. By this, those without a row in `certificates` are found.
CREATE INDEX custom_domains_proven ON custom_domains (hostname, account_id) WHERE status IN ('ssl_pending', 'active');
