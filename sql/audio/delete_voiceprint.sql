-- Purpose: destroys the key and the sealed bytes of a voiceprint.
-- Parameters: $1 public id, $2 why.
-- Rows: one with its id if it was not deleted before.
UPDATE voiceprint
SET sealed_embedding = NULL, wrapped_key = NULL, deleted_at = now(), deleted_why = $2
WHERE public_id = $1 AND deleted_at IS NULL
RETURNING voiceprint_id, deleted_at;
