-- Purpose: the usable keys, for the API's table in memory.
-- Parameters: none.
-- Rows: one a key that is neither revoked nor expired.
SELECT key_id, client, key_hash AS hash, scopes, brand_handle AS brand, expires_at
FROM api_key
WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now());
