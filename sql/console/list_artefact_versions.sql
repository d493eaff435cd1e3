-- Purpose: the versions of an artefact, newest first, each with the delta from the version before it
-- Parameters: $1 cache, $2 country, $3 only versions before this one (null: from the newest), $4 at most this many
-- Rows: one a version; no delta where none leads to it.
SELECT v.version, b.run_id, v.as_of, v.published_at, v.rows, v.file_bytes AS bytes, v.plain_bytes, v.file_sha256 AS sha256,
  d.version IS NOT NULL AS delta, d.file_bytes AS "delta.bytes", d.added AS "delta.added", d.changed AS "delta.changed", d.removed AS "delta.removed"
FROM artefact_version AS v
JOIN build AS b USING (build_id)
LEFT JOIN artefact_delta AS d ON d.cache = v.cache AND d.country = v.country AND d.version = v.version AND d.from_version = v.version - 1
WHERE v.cache = $1 AND v.country = $2 AND ($3::integer IS NULL OR v.version < $3)
ORDER BY v.version DESC
LIMIT $4
