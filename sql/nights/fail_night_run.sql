-- Purpose: ends a night that could not be opened, and marks its artefacts as stale, except those that a night has
--   published or confirmed from a snapshot taken after this one was requested.
-- Parameters: $1 run id, $2 code, $3 reason.
-- Rows: none.
WITH failed AS (
  UPDATE night_run SET state = 'finished', outcome = 'failed', finished_at = now(), failure_code = $2, failure_reason = $3
  WHERE run_id = $1 AND state <> 'finished'
  RETURNING only_cache, only_country, requested_at
)
UPDATE publication AS p
SET status = 'stale', stale_code = $2, stale_reason = $3, stale_since = CASE WHEN p.status = 'stale' THEN p.stale_since ELSE now() END
FROM failed
WHERE (failed.only_cache IS NULL OR failed.only_cache = p.cache)
  AND (failed.only_country IS NULL OR failed.only_country = p.country)
  AND (p.confirmed_as_of IS NULL OR p.confirmed_as_of <= failed.requested_at);
