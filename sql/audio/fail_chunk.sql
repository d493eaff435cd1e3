-- Purpose: ends every item of a chunk that has no outcome in error, because its job has failed.
-- Parameters: $1 batch id, $2 generation, $3 chunk, $4 reason, $5 its detail or NULL.
-- Rows: none.
UPDATE verification AS v SET state = 'error', reason = $4, reason_detail = $5, ended_at = now()
FROM verification_batch AS b
WHERE v.batch_id = $1 AND v.chunk = $3 AND v.state IN ('queued', 'performing')
  AND b.batch_id = v.batch_id AND b.generation = $2 AND b.state IN ('queued', 'performing');
