-- The lists of scheduled and of expired links test the links of this, which are few in most accounts (D126, ADR 88).
CREATE INDEX links_with_dates ON links (account_id, kind, id) WHERE starts_at IS NOT NULL OR expires_at IS NOT NULL;
