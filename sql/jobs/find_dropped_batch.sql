-- Purpose: the batch of recordings that were taken from the drop folder.
-- Parameters: $1 requested by, which contains the id of the taken entry.
-- Rows: one, or none if it was not submitted yet.
SELECT public_id FROM verification_batch WHERE requested_by = $1 ORDER BY batch_id LIMIT 1;
