-- Purpose: revokes a key; a key that was revoked before keeps that time.
-- Parameters: $1 key id.
-- Rows: the key, or none if there is no such key.
UPDATE api_key
SET revoked_at = coalesce(revoked_at, now())
WHERE key_id = $1
RETURNING key_id, client, revoked_at;
