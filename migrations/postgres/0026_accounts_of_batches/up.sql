-- A question reads only waiting batches that have clicks of its account. Without `accounts`, as from nodes before this migration,
-- all questions read the batch.
ALTER TABLE click_batches ADD COLUMN accounts uuid[];
