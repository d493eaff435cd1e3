-- Purpose: records that all bytes of an upload are there and have its digest.
-- Parameters: $1 id, $2 SHA-256 of the bytes.
-- Rows: one: the upload; none if it was removed meanwhile.
UPDATE upload SET sha256 = $2, reserved_bytes = bytes, completed_at = now(), active_at = now()
WHERE upload_id = $1
RETURNING upload_id, kind, bytes, reserved_bytes, sha256, completed_at;
