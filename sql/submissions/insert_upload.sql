-- Purpose: opens an upload.
-- Parameters: $1 client, $2 id of its key, $3 kind, $4 bytes, $5 announced SHA-256 or NULL.
-- Rows: one: the upload.
INSERT INTO upload (client, key_id, kind, bytes, sha256)
VALUES ($1, $2, $3, $4, $5)
RETURNING upload_id, kind, bytes, sha256, completed_at;
