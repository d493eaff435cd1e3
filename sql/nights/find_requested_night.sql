-- Purpose: the night that was requested with an idempotency key.
-- Parameters: $1 requested by, $2 idempotency key.
-- Rows: none or one.
SELECT run_id, state, request_sha256 FROM night_run WHERE requested_by = $1 AND idempotency_key = $2;
