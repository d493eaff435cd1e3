-- Purpose: starts an attempt at a build. One that is still running has crashed.
-- Parameters: $1 build id.
-- Rows: the parameters of the build with the published version that its rows are compared with (`published` is absent if there is none), or
--   none if it has an outcome or its night was taken over.
WITH basis AS (
  SELECT v.* FROM build AS b JOIN publication AS p USING (cache, country)
  JOIN artefact_version AS v ON v.cache = p.cache AND v.country = p.country AND v.version = p.version
  WHERE b.build_id = $1
)
UPDATE build AS b
SET state = 'running', attempts = b.attempts + 1, crashes = b.crashes + (b.state = 'running')::integer, started_at = now(), rows = 0,
  basis_version = (SELECT version FROM basis)
FROM night_run AS r LEFT JOIN basis AS v ON true
WHERE b.build_id = $1 AND b.state IN ('pending', 'running')
  AND r.run_id = b.run_id AND r.generation = b.generation AND r.state = 'running'
RETURNING b.build_id, b.attempts, b.cache, b.country, r.snapshot, r.evaluated_at,
  v.version IS NOT NULL AS published, v.version AS "published.version", v.facts AS "published.facts";
