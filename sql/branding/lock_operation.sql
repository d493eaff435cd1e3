-- Purpose: locks an operation until the transaction ends, so that it runs once.
-- Parameters: $1 operation id.
-- Rows: one if it is still due.
SELECT operation_id FROM branding_operation WHERE operation_id = $1 AND state = 'queued' FOR UPDATE;
