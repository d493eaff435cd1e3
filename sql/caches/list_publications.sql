-- Purpose: every artefact with its published version and the version before, for manifests.
-- Parameters: none.
-- Rows: one an artefact, by cache and country; `published` is absent without a published version, `index` without a segment
-- index. `deltas` has those to the published version, newest first.
SELECT
  p.cache, p.country, p.status,
  p.stale_code IS NOT NULL AS stale, p.stale_code AS "stale.code", p.stale_reason AS "stale.reason", p.stale_since AS "stale.since", p.confirmed_as_of,
  p.version IS NOT NULL AS published, p.version AS "published.version", v.build_id AS "published.build_id", v.as_of AS "published.as_of",
  v.built_at AS "published.built_at", v.published_at AS "published.published_at", v.rows AS "published.rows", v.levels AS "published.levels",
  v.categories_version AS "published.categories_version", v.file_sha256 AS "published.file.sha256", v.file_bytes AS "published.file.bytes",
  v.plain_bytes AS "published.file.plain_bytes", v.plain_crc32 AS "published.file.plain_crc32",
  v.content_sha256 AS "published.file.content_sha256", v.segment_rows_max AS "published.file.segment_rows_max",
  v.plain_sha256 AS "published.file.plain_sha256",
  v.index_sha256 IS NOT NULL AS "published.index", v.index_sha256 AS "published.index.sha256", v.index_bytes AS "published.index.bytes",
  v.segments AS "published.index.segments", v.filter AS "published.filter", COALESCE(d.deltas, '[]') AS "published.deltas",
  b.version IS NOT NULL AS previous, b.version AS "previous.version", b.content_sha256 AS "previous.content_sha256"
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
