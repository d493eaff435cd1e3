-- Purpose: disables an endpoint of webhooks. What is pending fails, and can be replayed.
-- Parameters: $1 endpoint id, $2 who, $3 reason.
-- Rows: none.
WITH disabled AS (
  UPDATE webhook_endpoint SET state = 'disabled', disabled_at = clock_timestamp(), disabled_by = $2, disabled_reason = $3
  WHERE endpoint_id = $1 AND state = 'enabled'
  RETURNING endpoint_id
)
UPDATE webhook_delivery AS d SET state = 'failed', failure = 'endpoint_disabled', next_attempt_at = NULL
FROM disabled AS e WHERE d.endpoint_id = e.endpoint_id AND d.state = 'pending';
