-- Purpose: records that a build gave exactly the published bytes: nothing new is published, and later changes count from this
--   night's snapshot.
-- Parameters: $1 build id, $2 as of.
-- Rows: none.
WITH done AS (
  UPDATE build AS b SET state = 'unchanged'
  FROM night_run AS r
  WHERE b.build_id = $1 AND r.run_id = b.run_id
  RETURNING b.cache, b.country, b.plan ->> 'kind' AS kind, r.transactions, r.cluster, r.evaluated_at
)
UPDATE publication AS p
SET status = 'fresh', stale_code = NULL, stale_reason = NULL, stale_since = NULL, confirmed_as_of = $2,
  basis_transactions = done.transactions, basis_cluster = done.cluster, basis_evaluated_at = done.evaluated_at,
  full_as_of = CASE WHEN done.kind = 'full' THEN $2 ELSE p.full_as_of END
FROM done
WHERE p.cache = done.cache AND p.country = done.country;
