-- Purpose: enables an endpoint of webhooks.
-- Parameters: $1 endpoint id.
-- Rows: none.
UPDATE webhook_endpoint
SET state = 'enabled', disabled_at = NULL, disabled_by = NULL, disabled_reason = NULL, failing_since = NULL
WHERE endpoint_id = $1;
