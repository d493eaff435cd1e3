-- Purpose: makes a batch that takes items, unless its owner has used the key before.
-- Parameters: $1 owner, $2 idempotency key, $3 SHA-256 of the request, $4 name, $5 mode, $6 requested model, $7 release,
--   $8 model that `phone` refers to or NULL, $9 the same for `digital`, $10 settings (JSON text), $11 their SHA-256, $12 requested by.
-- Rows: one with its ids if it was made.
INSERT INTO verification_batch (owner, idempotency_key, request_sha256, name, mode, requested_model, release, pinned_phone, pinned_digital, settings, settings_sha256, requested_by)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT (owner, idempotency_key) DO NOTHING
RETURNING batch_id, public_id;
