-- Purpose: queues a batch again that has ended.
-- Parameters: $1 batch id.
-- Rows: one with the new generation if it had ended.
UPDATE verification_batch SET state = 'queued', ended_at = NULL, generation = generation + 1 WHERE batch_id = $1 AND state IN ('done', 'cancelled') RETURNING generation;
