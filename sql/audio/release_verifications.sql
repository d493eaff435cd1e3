-- Purpose: does not count interrupted attempts. The batch is locked, so that its items are not cancelled meanwhile.
-- Parameters: $1 batch id, $2 its generation, $3 lines.
-- Rows: none.
WITH batch AS MATERIALIZED (
  SELECT FROM verification_batch WHERE batch_id = $1 AND generation = $2 AND state = 'performing' FOR SHARE
)
UPDATE verification AS v SET state = 'queued', attempts = v.attempts - 1
FROM batch
WHERE v.batch_id = $1 AND v.line = ANY ($3::integer[]) AND v.state = 'performing' AND v.attempts > 0;
