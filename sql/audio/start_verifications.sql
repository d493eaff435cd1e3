-- Purpose: counts attempts at items of a batch that have not ended, if the batch is still running. The batch is locked, so that its
--   items are not cancelled meanwhile.
-- Parameters: $1 batch id, $2 its generation, then one element an item: $3 line, $4 seconds since its scoring was begun.
-- Rows: line and attempts so far, this one included, of each; none of an item that has ended or whose batch was cancelled or tried again.
WITH batch AS MATERIALIZED (
  SELECT FROM verification_batch WHERE batch_id = $1 AND generation = $2 AND state = 'performing' FOR SHARE
), item AS MATERIALIZED (
  SELECT * FROM unnest($3::integer[], $4::double precision[]) AS item (line, seconds)
)
UPDATE verification AS v
SET state = 'performing', attempts = v.attempts + 1, started_at = coalesce(v.started_at, now() - item.seconds * interval '1 second')
FROM batch, item
WHERE v.batch_id = $1 AND v.line = item.line AND v.state IN ('queued', 'performing')
  AND v.line BETWEEN (SELECT min(line) FROM item) AND (SELECT max(line) FROM item) -- no plan may read all that waits
RETURNING v.line, v.attempts;
