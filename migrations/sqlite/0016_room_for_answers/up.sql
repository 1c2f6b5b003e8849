-- How much is remembered of the answers to each account (ADR 28).
--
-- What an answer takes, with a round figure for its row and its entries in indexes. Virtual: it is kept in the index alone.
ALTER TABLE remembered_answers ADD COLUMN bytes INTEGER NOT NULL GENERATED ALWAYS AS (
    512 + octet_length(key) + coalesce(octet_length(location), 0) + octet_length(body)
) VIRTUAL;

-- By this, the answers of an account are summed up, and the oldest found, without passing their bodies.
CREATE INDEX remembered_answers_room ON remembered_answers (account_id, created_at, bytes);
