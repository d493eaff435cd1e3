-- Purpose: uploads of a client that a request uses now. An incomplete one, which no request can use, stays as idle as it was.
-- Parameters: $1 client, $2 ids.
-- Rows: one an upload that exists.
UPDATE upload SET active_at = CASE WHEN completed_at IS NULL THEN active_at ELSE now() END
WHERE client = $1 AND upload_id = ANY ($2::uuid[])
RETURNING upload_id, kind, bytes, reserved_bytes, sha256, completed_at;
