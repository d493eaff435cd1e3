-- Purpose: destroys the key and the sealed bytes of a document.
-- Parameters: $1 document id, $2 why.
-- Rows: one if it was not destroyed before.
UPDATE document
SET sealed_content = NULL, sealed_reading = NULL, wrapped_key = NULL, destroyed_at = now(), destroyed_why = $2
WHERE document_id = $1 AND destroyed_at IS NULL
RETURNING document_id;
