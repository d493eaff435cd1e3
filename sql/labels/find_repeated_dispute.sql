-- Purpose: the dispute that was filed under an idempotency key.
-- Parameters: $1 who filed it, $2 key.
-- Rows: none or one: dispute_id, request_sha256.
SELECT dispute_id, request_sha256 FROM number_dispute WHERE filed_by = $1 AND idempotency_key = $2;
