-- Purpose: requests a night.
-- Parameters: $1 night date, $2 trigger, $3 only cache, $4 only country, $5 accept shrink, $6 evaluated at, $7 requested by,
--   $8 idempotency key or NULL, $9 SHA-256 of the request, NULL without a key.
-- Rows: the new run, or none if the scheduled night of this date, or a night by the same requester with this key, exists already.
INSERT INTO night_run (night_date, trigger, only_cache, only_country, accept_shrink, evaluated_at, requested_by, idempotency_key, request_sha256)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT DO NOTHING
RETURNING run_id;
