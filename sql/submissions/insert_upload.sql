-- Purpose: opens an upload.
-- Parameters: $1 client, $2 id of its key, $3 kind, $4 bytes, $5 bytes that are kept for it, $6 announced SHA-256 or NULL.
-- Rows: one: the upload.
INSERT INTO upload (client, key_id, kind, bytes, reserved_bytes, sha256)
VALUES ($1, $2, $3, $4, $5, $6)
RETURNING upload_id, kind, bytes, reserved_bytes, sha256, completed_at;
