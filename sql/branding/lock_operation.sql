-- Purpose: takes an operation for its transaction, so that it is carried out once.
-- Parameters: $1 operation id.
-- Rows: one if it is still to be done.
SELECT operation_id FROM branding_operation WHERE operation_id = $1 AND state = 'queued' FOR UPDATE;
