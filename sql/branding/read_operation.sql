-- Purpose: one operation.
-- Parameters: $1 operation id.
-- Rows: none or one.
SELECT operation_id, owner, idempotency_key, kind, request, letter_document_id, numbers_document_id, requested_by, requested_at,
  state, finished_at, result, failure_code, failure_reason
FROM branding_operation
WHERE operation_id = $1;
