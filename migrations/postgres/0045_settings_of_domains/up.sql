-- Where a domain sends visitors for whom no link opens (D127).
ALTER TABLE custom_domains ADD COLUMN root_url text;
ALTER TABLE custom_domains ADD COLUMN not_found_url text;
ALTER TABLE custom_domains ADD COLUMN expired_url text;
-- The files with which apps claim its links, as JSON text, kept byte for byte (D127).
ALTER TABLE custom_domains ADD COLUMN apple_app_site_association text;
ALTER TABLE custom_domains ADD COLUMN asset_links text;
