-- Purpose: records that a batch is running.
-- Parameters: $1 batch id, $2 generation.
-- Rows: none.
UPDATE verification_batch SET state = 'performing' WHERE batch_id = $1 AND generation = $2 AND state = 'queued';
