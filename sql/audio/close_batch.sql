-- Purpose: completes the submission of items.
-- Parameters: $1 batch id.
-- Rows: one if the batch was open.
UPDATE verification_batch SET state = 'queued' WHERE batch_id = $1 AND state = 'open' RETURNING generation;
