-- Purpose: the brand of a handle.
-- Parameters: $1 handle.
-- Rows: its id, or none.
SELECT brand_id FROM brand WHERE handle = $1;
