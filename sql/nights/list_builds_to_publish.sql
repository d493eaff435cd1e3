-- Purpose: the builds of an attempt with the published versions. lock_publications has run before, in a statement of its own:
--   after waiting for a lock here, this statement would join the new pointer to the old list of versions.
-- Parameters: $1 run id, $2 generation.
-- Rows: one a build, by cache and country.
SELECT
  b.build_id, b.cache, b.country, b.state, b.rows_expected, b.levels_expected, b.plan, b.rows_read, b.segments_differing, b.attempts, b.started_at, b.built_at, b.rows,
  b.file_sha256, b.file_bytes, b.plain_sha256, b.content_sha256, b.plain_bytes, b.failure_code, b.failure_reason,
  p.version AS published_version, v.rows AS published_rows, v.plain_sha256 AS published_plain_sha256,
  v.content_sha256 AS published_content_sha256,
  greatest(v.as_of, p.confirmed_as_of) AS published_as_of, v.levels AS published_levels,
  CASE WHEN p.basis_cluster = r.cluster THEN p.basis_transactions END AS basis_transactions, r.transactions,
  (SELECT h.gates FROM night_release AS l JOIN build AS h USING (build_id)
    WHERE l.cache = b.cache AND l.country = b.country AND l.used_by_build_id IS NULL ORDER BY l.release_id DESC LIMIT 1) AS released_gates
FROM build AS b
JOIN night_run AS r USING (run_id)
JOIN publication AS p ON p.cache = b.cache AND p.country = b.country
LEFT JOIN artefact_version AS v ON v.cache = p.cache AND v.country = p.country AND v.version = p.version
WHERE b.run_id = $1 AND b.generation = $2
ORDER BY b.cache, b.country;
