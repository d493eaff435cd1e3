-- Purpose: the branding operations that are due.
-- Parameters: none.
-- Rows: operation_id.
SELECT operation_id FROM branding_operation WHERE state = 'queued' ORDER BY operation_id;
