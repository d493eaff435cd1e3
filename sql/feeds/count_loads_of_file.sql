-- Purpose: the number of loads that need a spooled file.
-- Parameters: $1 sha256 of the file.
-- Rows: one: loads.
SELECT count(*) AS loads FROM feed_load WHERE file_sha256 = $1 AND state IN ('queued', 'running', 'held');
