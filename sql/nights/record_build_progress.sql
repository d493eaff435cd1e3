-- Purpose: records the number of rows that a running build has written.
-- Parameters: $1 build id, $2 rows, $3 attempt.
-- Rows: none.
UPDATE build SET rows = $2 WHERE build_id = $1 AND attempts = $3 AND state = 'running';
