-- Purpose: the batch of an idempotency key.
-- Parameters: $1 owner, $2 key.
-- Rows: one with the digest of its request, or none if the key is free.
SELECT batch_id, public_id, request_sha256, state FROM verification_batch WHERE owner = $1 AND idempotency_key = $2;
