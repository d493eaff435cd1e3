-- Purpose: records the result of an operation.
-- Parameters: $1 operation id, $2 result (JSON text).
-- Rows: none.
UPDATE branding_operation SET state = 'done', finished_at = now(), result = $2 WHERE operation_id = $1 AND state = 'queued';
