-- As it is called on PostgreSQL, so that both stores share one description of the table.
ALTER TABLE pixels RENAME COLUMN pixel_type TO type;
