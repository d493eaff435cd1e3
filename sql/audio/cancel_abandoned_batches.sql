-- Purpose: cancels batches whose submission was never completed.
-- Parameters: $1 instant before which they were made.
-- Rows: one a batch.
UPDATE verification_batch SET state = 'cancelled', ended_at = now() WHERE state = 'open' AND requested_at < $1 RETURNING batch_id;
