-- Purpose: starts an attempt at a build. One that is still running has crashed.
-- Parameters: $1 build id.
-- Rows: the parameters of the build, or none if it has an outcome or its night was taken over.
UPDATE build AS b
SET state = 'running', attempts = b.attempts + 1, crashes = b.crashes + (b.state = 'running')::integer, started_at = now(), rows = 0
FROM night_run AS r
WHERE b.build_id = $1 AND b.state IN ('pending', 'running')
  AND r.run_id = b.run_id AND r.generation = b.generation AND r.state = 'running'
RETURNING b.build_id, b.run_id, b.generation, b.attempts, b.cache, b.country, b.rows_expected, b.levels_expected, b.plan, r.snapshot, r.evaluated_at;
