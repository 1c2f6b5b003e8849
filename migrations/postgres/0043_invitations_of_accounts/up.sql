-- The open invitations to an account, newest first. It also finds what a deleted account leaves.
CREATE INDEX tickets_of_account_by_age ON tickets (account_id ASC, created_at DESC, email_key);
DROP INDEX tickets_of_account;
