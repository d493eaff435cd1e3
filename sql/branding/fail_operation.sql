-- Purpose: records that an operation has failed.
-- Parameters: $1 operation id, $2 code, $3 reason.
-- Rows: none.
UPDATE branding_operation SET state = 'failed', finished_at = now(), failure_code = $2, failure_reason = $3 WHERE operation_id = $1 AND state = 'queued';
