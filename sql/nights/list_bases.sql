-- Purpose: the published version of each artefact, from which a build can start, with the deltas to it.
-- Parameters: none.
-- Rows: one an artefact with a published version; index and basis columns are NULL where the version has none.
SELECT
  p.cache, p.country, p.version, p.basis_transactions, p.basis_cluster, p.basis_evaluated_at, p.full_as_of,
  v.rows, v.levels, v.format, v.file_sha256, v.file_bytes, v.plain_sha256, v.plain_bytes,
  v.plain_crc32, v.content_sha256, v.segment_rows_max, v.index_sha256, v.index_bytes, v.filter,
  coalesce((
    SELECT jsonb_agg(jsonb_build_object('from', d.from_version, 'sha256', d.file_sha256, 'bytes', d.file_bytes,
      'added', d.added, 'changed', d.changed, 'removed', d.removed) ORDER BY d.from_version DESC)
    FROM artefact_delta AS d
    WHERE d.cache = p.cache AND d.country = p.country AND d.version = p.version), '[]') AS deltas
FROM publication AS p
JOIN artefact_version AS v USING (cache, country, version)
ORDER BY p.cache, p.country;
