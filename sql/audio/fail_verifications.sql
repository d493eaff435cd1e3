-- Purpose: ends items in error.
-- Parameters: $1 verification ids, $2 generation of their batch, $3 reason, $4 its detail or NULL.
-- Rows: verification_id of each item that has ended now.
UPDATE verification AS v SET state = 'error', reason = $3, reason_detail = $4, ended_at = now()
FROM verification_batch AS b
WHERE v.verification_id = ANY ($1::bigint[]) AND v.state IN ('queued', 'performing')
  AND b.batch_id = v.batch_id AND b.generation = $2 AND b.state = 'performing'
RETURNING v.verification_id;
