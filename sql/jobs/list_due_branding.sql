-- Purpose: branding operations that are yet to be carried out.
-- Parameters: none.
-- Rows: operation_id.
SELECT operation_id FROM branding_operation WHERE state = 'queued' ORDER BY operation_id;
