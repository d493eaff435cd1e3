-- Purpose: every artefact with its published version and the version before, for manifests.
-- Parameters: none.
-- Rows: one an artefact, by cache and country; version columns are NULL where nothing was ever published, index columns also
-- where the version has no segment index. `deltas` has those that lead to the published version, newest first.
SELECT
  p.cache, p.country, p.version, p.status, p.stale_code, p.stale_reason, p.stale_since, p.confirmed_as_of,
  v.build_id, v.as_of, v.built_at, v.published_at, v.rows, v.levels, v.categories_version,
  v.file_sha256, v.file_bytes, v.plain_sha256, v.plain_bytes, v.index_sha256, v.index_bytes, v.segments,
  b.version AS previous_version, b.plain_sha256 AS previous_plain_sha256,
  COALESCE(d.deltas, '[]') AS deltas
FROM publication AS p
LEFT JOIN artefact_version AS v USING (cache, country, version)
LEFT JOIN artefact_version AS b ON b.cache = p.cache AND b.country = p.country AND b.version = p.version - 1
LEFT JOIN LATERAL (
  SELECT jsonb_agg(
    jsonb_build_object(
      'from', from_version, 'sha256', file_sha256, 'bytes', file_bytes, 'added', added, 'changed', changed, 'removed', removed)
    ORDER BY from_version DESC) AS deltas
  FROM artefact_delta AS a WHERE a.cache = p.cache AND a.country = p.country AND a.version = p.version
) AS d ON true
ORDER BY p.cache, p.country;
