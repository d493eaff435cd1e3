-- Purpose: ends a night with its outcome and report.
-- Parameters: $1 run id, $2 outcome, $3 report (JSON text).
-- Rows: the instant of the end.
UPDATE night_run SET state = 'finished', outcome = $2, finished_at = now(), report = $3::jsonb
WHERE run_id = $1
RETURNING finished_at;
