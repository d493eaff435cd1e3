-- Purpose: an upload of a client.
-- Parameters: $1 client, $2 id.
-- Rows: the upload, if there is one.
SELECT upload_id, kind, bytes, reserved_bytes, sha256, completed_at FROM upload WHERE client = $1 AND upload_id = $2::uuid;
