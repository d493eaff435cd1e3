-- Purpose: removes uploads that no request has used since a time.
-- Parameters: $1 time, $2 most rows.
-- Rows: the id of each.
DELETE FROM upload
WHERE upload_id IN (SELECT upload_id FROM upload WHERE active_at < $1 ORDER BY active_at LIMIT $2 FOR UPDATE SKIP LOCKED)
RETURNING upload_id;
