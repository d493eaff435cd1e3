-- Purpose: records on an endpoint of webhooks how an attempt ended.
-- Parameters: $1 endpoint id, $2 instant of the attempt, $3 since when every attempt has failed, NULL after a success.
-- Rows: none.
UPDATE webhook_endpoint
SET last_attempt_at = $2, failing_since = $3, last_success_at = CASE WHEN $3::timestamptz IS NULL THEN $2 ELSE last_success_at END
WHERE endpoint_id = $1;
