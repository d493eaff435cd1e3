-- Purpose: whether a feed load is due.
-- Parameters: $1 load id.
-- Rows: one, or none if it has ended.
SELECT load_id FROM feed_load WHERE load_id = $1 AND state IN ('queued', 'running');
