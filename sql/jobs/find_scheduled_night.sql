-- Purpose: the scheduled night of a date.
-- Parameters: $1 night date.
-- Rows: one, or none.
SELECT run_id FROM night_run WHERE trigger = 'schedule' AND night_date = $1;
