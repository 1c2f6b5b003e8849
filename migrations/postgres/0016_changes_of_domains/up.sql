-- All links that the account has or had on this custom domain. A program that does not know the column takes the row for
-- one about all links of the account, which includes them.
ALTER TABLE changes ADD COLUMN hostname text;

-- NOT VALID, so that the log is not read while everybody waits: the rows that are there already have no hostname.
ALTER TABLE changes ADD CONSTRAINT changes_hostname CHECK (hostname IS NULL OR hosts IS NULL) NOT VALID;
