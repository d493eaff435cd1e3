-- Purpose: records that a build has failed.
-- Parameters: $1 build id, $2 code, $3 reason.
-- Rows: none.
UPDATE build SET state = 'failed', failure_code = $2, failure_reason = $3
WHERE build_id = $1 AND state IN ('pending', 'running', 'built');
