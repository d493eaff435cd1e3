-- Purpose: the feed loads that are due, for comparison with the queue.
-- Parameters: none.
-- Rows: one a load that is queued or running, the oldest first.
SELECT load_id FROM feed_load WHERE state IN ('queued', 'running') ORDER BY load_id;
