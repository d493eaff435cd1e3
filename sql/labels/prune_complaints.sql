-- Purpose: deletes complaints that were reported before an instant, in limited numbers, so that no statement holds its locks for long.
-- Parameters: $1 instant, $2 most rows.
-- Rows: one: removed.
WITH pruned AS (
  DELETE FROM complaint
  WHERE complaint_id IN (SELECT complaint_id FROM complaint WHERE reported_at < $1::timestamptz LIMIT $2::integer)
  RETURNING 1
)
SELECT count(*) AS removed FROM pruned;
