-- Purpose: publishes a build as the next version: the row of the version and the one pointer to it.
-- Parameters: $1 build id, $2 version, $3 as of, $4 categories version.
-- Rows: none.
WITH published AS (
  INSERT INTO artefact_version (cache, country, version, build_id, as_of, built_at, rows, levels, categories_version,
    file_sha256, file_bytes, plain_sha256, plain_bytes)
  SELECT cache, country, $2, build_id, $3, built_at, rows, levels_expected, $4, file_sha256, file_bytes, plain_sha256, plain_bytes
  FROM build WHERE build_id = $1 AND state = 'built'
  RETURNING cache, country, version, as_of
), done AS (
  UPDATE build SET state = 'published' WHERE build_id = $1
)
UPDATE publication AS p
SET version = published.version, status = 'fresh', stale_code = NULL, stale_reason = NULL, stale_since = NULL, confirmed_as_of = published.as_of
FROM published
WHERE p.cache = published.cache AND p.country = published.country;
