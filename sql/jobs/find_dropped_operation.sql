-- Purpose: the branding operation of a folder that was taken from the drop folder.
-- Parameters: $1 requested by, which contains the id of the taken folder.
-- Rows: one, or none if the folder was not submitted yet.
SELECT operation_id FROM branding_operation WHERE requested_by = $1 ORDER BY operation_id LIMIT 1;
