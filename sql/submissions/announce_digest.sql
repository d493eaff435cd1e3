-- Purpose: keeps the SHA-256 that the client has announced, unless there is one.
-- Parameters: $1 id, $2 SHA-256.
-- Rows: none.
UPDATE upload SET sha256 = $2 WHERE upload_id = $1 AND sha256 IS NULL;
