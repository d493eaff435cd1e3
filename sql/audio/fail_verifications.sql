-- Purpose: ends items of a batch in error. The batch is locked, so that its items are not cancelled meanwhile.
-- Parameters: $1 batch id, $2 its generation, $3 the items as JSON text: line, reason, detail or null, begunSeconds where scoring was begun.
-- Rows: line of each item that has ended now.
WITH batch AS MATERIALIZED (
  SELECT FROM verification_batch WHERE batch_id = $1 AND generation = $2 AND state = 'performing' FOR SHARE
), item AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($3::jsonb) AS item (line integer, reason text, detail text, "begunSeconds" double precision)
)
UPDATE verification AS v
SET state = 'error', reason = item.reason, reason_detail = item.detail,
  attempts = v.attempts + CASE WHEN v.state = 'queued' AND item."begunSeconds" IS NOT NULL THEN 1 ELSE 0 END,
  started_at = coalesce(v.started_at, now() - item."begunSeconds" * interval '1 second'), ended_at = now()
FROM batch, item
WHERE v.batch_id = $1 AND v.line = item.line AND v.state IN ('queued', 'performing')
  AND v.line BETWEEN (SELECT min(line) FROM item) AND (SELECT max(line) FROM item) -- no plan may read all that waits
RETURNING v.line;
