-- Members of an account are listed by user.
DROP INDEX memberships_of_account;
CREATE INDEX memberships_of_account ON memberships (account_id, user_id);
