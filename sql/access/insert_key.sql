-- Purpose: stores a new key by the hash of its random bytes.
-- Parameters: $1 key id, $2 client, $3 hash, $4 scopes, $5 expiry or NULL.
-- Rows: the time of creation.
INSERT INTO api_key (key_id, client, key_hash, scopes, expires_at)
VALUES ($1, $2, $3, $4, $5)
RETURNING created_at;
