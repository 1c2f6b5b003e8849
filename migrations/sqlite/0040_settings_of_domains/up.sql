-- Where a domain sends visitors for whom no link opens (D127).
ALTER TABLE custom_domains ADD COLUMN root_url TEXT;
ALTER TABLE custom_domains ADD COLUMN not_found_url TEXT;
ALTER TABLE custom_domains ADD COLUMN expired_url TEXT;
-- The files with which apps claim its links, as JSON text (D127). The last columns, because they may be long and are seldom read.
ALTER TABLE custom_domains ADD COLUMN apple_app_site_association TEXT;
ALTER TABLE custom_domains ADD COLUMN asset_links TEXT;
