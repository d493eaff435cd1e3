-- Purpose: records an accepted request, unless its client has used the key before.
-- Parameters: $1 client, $2 id of its key, $3 brand that the key is bound to or NULL, $4 idempotency key, $5 kind, $6 SHA-256 of the
--   request, $7 id of what it became, $8 address or NULL.
-- Rows: one if it was recorded.
INSERT INTO intake_request (client, key_id, brand_handle, idempotency_key, kind, request_sha256, object, address)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (client, idempotency_key) DO NOTHING
RETURNING request_id;
