-- Purpose: which of the given uploads exist.
-- Parameters: $1 ids.
-- Rows: the id of each.
SELECT upload_id FROM upload WHERE upload_id = ANY ($1::uuid[]);
