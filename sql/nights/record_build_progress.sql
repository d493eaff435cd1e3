-- Purpose: records the rows that a running build has written, and those that it expects.
-- Parameters: $1 build id, $2 rows, $3 rows expected, $4 attempt.
-- Rows: none.
UPDATE build SET rows = $2, rows_expected = $3 WHERE build_id = $1 AND attempts = $4 AND state = 'running';
