-- Purpose: the brand that a client calls by a handle.
-- Parameters: $1 handle, $2 client.
-- Rows: none or one; none also for a brand of another client.
SELECT brand_id
FROM brand_overview
WHERE handle = $1 AND owner = $2;
