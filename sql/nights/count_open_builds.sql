-- Purpose: the number of builds of an attempt without an outcome, and whether the attempt is the current one.
-- Parameters: $1 run id, $2 generation.
-- Rows: one.
SELECT
  (SELECT count(*) FROM build WHERE run_id = $1 AND generation = $2 AND state IN ('pending', 'running')) AS open_builds,
  EXISTS (SELECT FROM night_run WHERE run_id = $1 AND generation = $2 AND state = 'running') AS current;
