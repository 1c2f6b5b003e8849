-- How much is remembered of the answers to each account (ADR 28).
--
-- What an answer takes. 0 where a node of the version before wrote it, which is forgotten within 24 hours.
ALTER TABLE remembered_answers ADD COLUMN bytes integer NOT NULL DEFAULT 0;

-- How much the answers of an account take at most: what is forgotten is taken off only when there seems to be no room.
-- No reference to accounts, as with the answers.
CREATE TABLE remembered_totals (
    account_id uuid   PRIMARY KEY,
    bytes      bigint NOT NULL CHECK (bytes >= 0)
);
