-- Purpose: uploads of a client that a request uses now.
-- Parameters: $1 client, $2 ids.
-- Rows: one an upload that exists.
UPDATE upload SET active_at = now()
WHERE client = $1 AND upload_id = ANY ($2::uuid[])
RETURNING upload_id, kind, bytes, sha256, completed_at;
