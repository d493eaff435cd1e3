-- Purpose: every artefact with its published version and the version before, for manifests.
-- Parameters: none.
-- Rows: one an artefact, by cache and country; version columns are NULL where nothing was ever published.
SELECT
  p.cache, p.country, p.version, p.status, p.stale_code, p.stale_reason, p.stale_since, p.confirmed_as_of,
  v.build_id, v.as_of, v.built_at, v.published_at, v.rows, v.levels, v.categories_version,
  v.file_sha256, v.file_bytes, v.plain_sha256, v.plain_bytes,
  b.version AS previous_version, b.plain_sha256 AS previous_plain_sha256
FROM publication AS p
LEFT JOIN artefact_version AS v USING (cache, country, version)
LEFT JOIN artefact_version AS b ON b.cache = p.cache AND b.country = p.country AND b.version = p.version - 1
ORDER BY p.cache, p.country;
