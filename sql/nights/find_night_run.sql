-- Purpose: one night with its state.
-- Parameters: $1 run id, or NULL; $2 night date, or NULL. Both NULL: the latest.
-- Rows: one, or none.
SELECT run_id, night_date AS date, trigger, state, outcome, generation, requested_at, requested_by, opened_at, finished_at,
  failure_code IS NOT NULL AS failure, failure_code AS "failure.code", failure_reason AS "failure.reason", report
FROM night_run
WHERE ($1::bigint IS NULL OR run_id = $1) AND ($2::date IS NULL OR night_date = $2)
ORDER BY run_id DESC
LIMIT 1;
