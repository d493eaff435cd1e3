-- Purpose: stores a new key by the hash of its random bytes.
-- Parameters: $1 key id, $2 client, $3 hash, $4 scopes, $5 expiry or NULL, $6 handle of the brand that it is bound to, or NULL.
-- Rows: the time of creation; none if the client has no such brand.
INSERT INTO api_key (key_id, client, key_hash, scopes, expires_at, brand_handle)
SELECT $1::text, $2::text, $3::bytea, $4::text[], $5::timestamptz, $6::text
WHERE $6::text IS NULL OR EXISTS (SELECT FROM brand WHERE handle = $6::text AND owner = $2::text)
RETURNING created_at;
