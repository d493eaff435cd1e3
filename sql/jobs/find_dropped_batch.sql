-- Purpose: the batch of recordings that were taken from the drop folder.
-- Parameters: $1 requested by, which holds the id of what was taken.
-- Rows: one, or none if it was not handed in yet.
SELECT public_id FROM verification_batch WHERE requested_by = $1 ORDER BY batch_id LIMIT 1;
