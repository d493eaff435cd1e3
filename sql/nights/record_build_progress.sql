-- Purpose: tells how many rows a running build has written.
-- Parameters: $1 build id, $2 rows.
-- Rows: none.
UPDATE build SET rows = $2 WHERE build_id = $1 AND state = 'running';
