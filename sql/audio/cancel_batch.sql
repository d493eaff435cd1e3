-- Purpose: cancels a batch that has not ended.
-- Parameters: $1 batch id.
-- Rows: one if it is cancelled now.
UPDATE verification_batch SET state = 'cancelled', ended_at = now() WHERE batch_id = $1 AND state IN ('open', 'queued', 'performing') RETURNING batch_id;
