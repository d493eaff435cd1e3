-- Purpose: counts an attempt at an item before its start, if its batch is still running.
-- Parameters: $1 verification id, $2 generation of its batch.
-- Rows: one with the attempts so far, this one included, or none if the item has ended or its batch was cancelled or tried again.
UPDATE verification AS v SET state = 'performing', attempts = v.attempts + 1, started_at = coalesce(v.started_at, now())
FROM verification_batch AS b
WHERE v.verification_id = $1 AND v.state IN ('queued', 'performing')
  AND b.batch_id = v.batch_id AND b.generation = $2 AND b.state = 'performing'
RETURNING v.attempts;
