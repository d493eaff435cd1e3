-- Purpose: the versions of an artefact, newest first, each with the delta from the version before it
-- Parameters: $1 cache, $2 country, $3 only versions before this one (null: from the newest), $4 at most so many
-- Rows: version, run_id, as_of, published_at, rows, file_bytes, plain_bytes, file_sha256, and of the delta delta_bytes, added, changed,
--   removed (null where there was none)
SELECT v.version, b.run_id, v.as_of, v.published_at, v.rows, v.file_bytes, v.plain_bytes, v.file_sha256,
  d.file_bytes AS delta_bytes, d.added, d.changed, d.removed
FROM artefact_version AS v
JOIN build AS b USING (build_id)
LEFT JOIN artefact_delta AS d ON d.cache = v.cache AND d.country = v.country AND d.version = v.version AND d.from_version = v.version - 1
WHERE v.cache = $1 AND v.country = $2 AND ($3::integer IS NULL OR v.version < $3)
ORDER BY v.version DESC
LIMIT $4
