-- Purpose: marks a load as failed. It changed nothing.
-- Parameters: $1 load id, $2 code of the error, $3 reason.
-- Rows: none.
UPDATE feed_load SET state = 'failed', finished_at = clock_timestamp(), failure_code = $2, failure_reason = $3
WHERE load_id = $1 AND state IN ('queued', 'running');
