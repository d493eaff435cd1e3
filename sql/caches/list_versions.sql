-- Purpose: every version that was published, newest first in each artefact.
-- Parameters: none.
-- Rows: one a version; the index is NULL in versions that were published before there were segments. `deltas` has those to the
--   published version, newest first.
SELECT v.cache, v.country, v.version, v.version = max(v.version) OVER (PARTITION BY v.cache, v.country) AS current, v.rows, v.published_at,
  v.file_sha256 AS "file.sha256", v.file_bytes AS "file.bytes", v.plain_bytes AS "file.plain_bytes", v.plain_crc32 AS "file.plain_crc32",
  v.content_sha256 AS "file.content_sha256", v.segment_rows_max AS "file.segment_rows_max", v.plain_sha256 AS "file.plain_sha256",
  v.index_sha256, v.filter, COALESCE(d.deltas, '[]') AS deltas
FROM artefact_version AS v
LEFT JOIN publication AS p USING (cache, country, version)
LEFT JOIN LATERAL (
  SELECT jsonb_agg(jsonb_build_object('from', a.from_version, 'sha256', a.file_sha256) ORDER BY a.from_version DESC) AS deltas
  FROM artefact_delta AS a WHERE a.cache = p.cache AND a.country = p.country AND a.version = p.version
) AS d ON true
ORDER BY v.cache, v.country, v.version DESC;
