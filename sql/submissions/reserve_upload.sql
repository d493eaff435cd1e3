-- Purpose: keeps bytes of the disk for an upload of which bytes arrive.
-- Parameters: $1 id, $2 bytes of the upload and at most all of it.
-- Rows: none.
UPDATE upload SET reserved_bytes = $2, active_at = now() WHERE upload_id = $1;
