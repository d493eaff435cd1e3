-- Purpose: records that an attempt at a build has ended with an error, so that the next one does not count it as a crash.
-- Parameters: $1 build id, $2 attempt.
-- Rows: none.
UPDATE build SET state = 'pending' WHERE build_id = $1 AND attempts = $2 AND state = 'running';
