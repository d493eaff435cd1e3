-- Purpose: the load of a file that was taken from the drop folder.
-- Parameters: $1 submitted by, which contains the id of the taken file.
-- Rows: one, or none if the file was not submitted yet.
SELECT load_id FROM feed_load WHERE submitted_by = $1 ORDER BY load_id LIMIT 1;
