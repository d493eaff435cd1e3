-- Purpose: ends every item of a chunk that has no outcome in error, because its job has failed. The batch is locked, so that its items
--   are not cancelled meanwhile.
-- Parameters: $1 batch id, $2 generation, $3 and $4 first and last line, $5 reason, $6 its detail or NULL.
-- Rows: none.
WITH batch AS MATERIALIZED (
  SELECT FROM verification_batch WHERE batch_id = $1 AND generation = $2 AND state IN ('queued', 'performing') FOR SHARE
)
UPDATE verification AS v SET state = 'error', reason = $5, reason_detail = $6, ended_at = now()
FROM batch
WHERE v.batch_id = $1 AND v.line BETWEEN $3 AND $4 AND v.state IN ('queued', 'performing');
