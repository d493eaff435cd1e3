-- Purpose: one operation.
-- Parameters: $1 operation id.
-- Rows: none or one.
SELECT operation_id, kind, owner, idempotency_key AS key, requested_by, requested_at, state, finished_at, result,
  failure_code IS NOT NULL AS failure, failure_code AS "failure.code", failure_reason AS "failure.reason",
  request, letter_document_id, numbers_document_id
FROM branding_operation
WHERE operation_id = $1;
