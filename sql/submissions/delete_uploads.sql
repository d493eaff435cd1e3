-- Purpose: removes uploads that were used or given up.
-- Parameters: $1 ids.
-- Rows: none.
DELETE FROM upload WHERE upload_id = ANY ($1::uuid[]);
