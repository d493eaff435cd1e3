-- Purpose: records that a build gave exactly the published bytes: nothing new is published.
-- Parameters: $1 build id, $2 as of.
-- Rows: none.
WITH done AS (
  UPDATE build SET state = 'unchanged' WHERE build_id = $1 RETURNING cache, country
)
UPDATE publication AS p
SET status = 'fresh', stale_code = NULL, stale_reason = NULL, stale_since = NULL, confirmed_as_of = $2
FROM done
WHERE p.cache = done.cache AND p.country = done.country;
