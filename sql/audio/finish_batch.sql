-- Purpose: ends a batch if each of its items has an outcome. The last item that waits is looked for, since the first ones end first: what
--   has ended is not read.
-- Parameters: $1 batch id, $2 generation.
-- Rows: one if it has ended now.
UPDATE verification_batch SET state = 'done', ended_at = now()
WHERE batch_id = $1 AND generation = $2 AND state IN ('queued', 'performing')
  AND (SELECT line FROM verification WHERE batch_id = $1 AND state = 'performing' ORDER BY line DESC LIMIT 1) IS NULL
  AND (SELECT line FROM verification WHERE batch_id = $1 AND state = 'queued' ORDER BY line DESC LIMIT 1) IS NULL
RETURNING batch_id;
