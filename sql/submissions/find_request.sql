-- Purpose: the request that a client has made under an idempotency key.
-- Parameters: $1 client, $2 key.
-- Rows: none or one.
SELECT kind, request_sha256, object FROM intake_request WHERE client = $1 AND idempotency_key = $2;
