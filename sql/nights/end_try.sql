-- Purpose: records that a try of a build has ended with an error, so that the next one does not count it as a crash.
-- Parameters: $1 build id, $2 try.
-- Rows: none.
UPDATE build SET state = 'pending' WHERE build_id = $1 AND attempts = $2 AND state = 'running';
