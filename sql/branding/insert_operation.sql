-- Purpose: records a request, unless its owner has used the key before.
-- Parameters: $1 owner, $2 idempotency key, $3 kind, $4 request (JSON text), $5 its SHA-256, $6 letter's document id or NULL,
--   $7 document id of the numbers or NULL, $8 requested by, $9 the person, where $8 does not
--   say who it was, or NULL.
-- Rows: one with its id if it was recorded.
INSERT INTO branding_operation (owner, idempotency_key, kind, request, request_sha256, letter_document_id, numbers_document_id, requested_by, submitted_by)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (owner, idempotency_key) DO NOTHING
RETURNING operation_id;
