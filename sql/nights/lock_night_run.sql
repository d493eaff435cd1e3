-- Purpose: locks a night for publishing, if this attempt is the current one.
-- Parameters: $1 run id, $2 generation.
-- Rows: the run, or none if another attempt took over or the night is finished.
SELECT run_id, night_date, trigger, generation, accept_shrink, as_of, evaluated_at, requested_at, opened_at, only_cache, only_country
FROM night_run
WHERE run_id = $1 AND generation = $2 AND state = 'running'
FOR UPDATE;
