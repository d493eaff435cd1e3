-- Purpose: what was accepted, newest first.
-- Parameters: $1 client or NULL for all, $2 id before which the page begins or NULL, $3 most rows.
-- Rows: one a request.
SELECT request_id, client, key_id, brand_handle AS brand, idempotency_key AS key, kind, object, host(address) AS address, accepted_at
FROM intake_request
WHERE ($1::text IS NULL OR client = $1) AND ($2::bigint IS NULL OR request_id < $2)
ORDER BY request_id DESC
LIMIT $3;
