-- Purpose: publishes a build as the next version: the row of the version with the facts of the build, and the pointer to it. Deltas count
--   only if they were made from the version before.
-- Parameters: $1 build id, $2 version, $3 as of.
-- Rows: none.
WITH done AS (
  UPDATE build SET state = 'published' WHERE build_id = $1 AND state = 'built'
  RETURNING cache, country, build_id, built_at, basis_version, facts
), published AS (
  INSERT INTO artefact_version (cache, country, version, build_id, as_of, built_at, facts)
  SELECT cache, country, $2, build_id, $3, built_at, CASE WHEN basis_version = $2::integer - 1 THEN facts ELSE facts || '{"deltas": []}' END
  FROM done
  RETURNING cache, country, version, as_of
)
UPDATE publication AS p
SET version = published.version, status = 'fresh', stale_code = NULL, stale_reason = NULL, stale_since = NULL, confirmed_as_of = published.as_of
FROM published
WHERE p.cache = published.cache AND p.country = published.country;
