-- Purpose: starts an attempt at a night: raises the generation, sets the instant of evaluation.
-- Parameters: $1 run id.
-- Rows: the run, or none if it is finished.
UPDATE night_run
SET state = 'running', generation = generation + 1, opened_at = now(), evaluated_at = coalesce(evaluated_at, now()),
  as_of = NULL, snapshot = NULL
WHERE run_id = $1 AND state <> 'finished'
RETURNING run_id, generation, evaluated_at, only_cache, only_country;
