-- Purpose: ends a batch if each of its items has an outcome.
-- Parameters: $1 batch id, $2 generation.
-- Rows: one if it has ended now.
UPDATE verification_batch AS b SET state = 'done', ended_at = now()
WHERE b.batch_id = $1 AND b.generation = $2 AND b.state IN ('queued', 'performing')
  AND NOT EXISTS (SELECT FROM verification AS v WHERE v.batch_id = b.batch_id AND v.state IN ('queued', 'performing'))
RETURNING b.batch_id;
