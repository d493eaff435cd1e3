-- Purpose: records that a build failed: the old version stays published, marked stale with the reason, unless a night with a
--   later snapshot has published or confirmed it.
-- Parameters: $1 build id, $2 code, $3 reason, $4 as of.
-- Rows: none.
WITH done AS (
  UPDATE build SET state = 'failed', failure_code = $2, failure_reason = $3 WHERE build_id = $1 RETURNING cache, country
)
UPDATE publication AS p
SET status = 'stale', stale_code = $2, stale_reason = $3, stale_since = CASE WHEN p.status = 'stale' THEN p.stale_since ELSE now() END
FROM done
WHERE p.cache = done.cache AND p.country = done.country AND (p.confirmed_as_of IS NULL OR p.confirmed_as_of <= $4);
