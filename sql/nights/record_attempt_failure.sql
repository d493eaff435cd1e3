-- Purpose: records that an attempt at a build has failed, and the build with it, unless a later attempt has started.
-- Parameters: $1 build id, $2 attempt, $3 code, $4 reason.
-- Rows: none.
UPDATE build SET state = 'failed', failure_code = $3, failure_reason = $4
WHERE build_id = $1 AND attempts = $2 AND state IN ('pending', 'running');
