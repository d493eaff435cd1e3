-- Purpose: the operation of an owner's idempotency key.
-- Parameters: $1 owner, $2 idempotency key.
-- Rows: none or one.
SELECT operation_id, request_sha256 FROM branding_operation WHERE owner = $1 AND idempotency_key = $2;
