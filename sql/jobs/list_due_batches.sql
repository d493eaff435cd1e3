-- Purpose: batches of recordings whose items wait for their outcomes.
-- Parameters: none.
-- Rows: one a batch, the oldest first.
SELECT batch_id, generation FROM verification_batch WHERE state IN ('queued', 'performing') ORDER BY batch_id;
