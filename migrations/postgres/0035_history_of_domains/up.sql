-- The latest changes of the domain's status, a line each: instant, status, and the reason of a failure. NULL in rows that only
-- older versions have written. During an upgrade, nodes of the version before change the status without a line here.
ALTER TABLE custom_domains ADD COLUMN history text;
