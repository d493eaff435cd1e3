-- Purpose: the builds of an attempt with the published versions. lock_publications has run before, in a statement of its own:
--   after waiting for a lock here, this statement would join the new pointer to the old list of versions.
-- Parameters: $1 run id, $2 generation.
-- Rows: one a build, by cache and country; `published` is absent without a published version. moves: NULL unless they are those from the
--   published version.
SELECT
  b.build_id, b.cache, b.country, b.state, b.attempts, b.started_at, b.built_at, b.facts, b.failure_code, b.failure_reason,
  CASE WHEN b.basis_version = p.version THEN b.moves END AS moves,
  p.version IS NOT NULL AS published, p.version AS "published.version", v.facts AS "published.facts",
  greatest(v.as_of, p.confirmed_as_of) AS "published.as_of",
  (SELECT h.gates FROM night_release AS l JOIN build AS h USING (build_id)
    WHERE l.cache = b.cache AND l.country = b.country AND l.used_by_build_id IS NULL ORDER BY l.release_id DESC LIMIT 1) AS released_gates
FROM build AS b
JOIN night_run AS r USING (run_id)
JOIN publication AS p ON p.cache = b.cache AND p.country = b.country
LEFT JOIN artefact_version AS v ON v.cache = p.cache AND v.country = p.country AND v.version = p.version
WHERE b.run_id = $1 AND b.generation = $2
ORDER BY b.cache, b.country;
