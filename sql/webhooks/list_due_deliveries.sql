-- Purpose: deliveries of webhooks that are due. Of an endpoint some at a time, and of one that fails a single one.
-- Parameters: $1 delivery id or NULL for all, $2 deliveries of one endpoint at most.
-- Rows: one a delivery.
SELECT d.delivery_id
FROM webhook_endpoint AS e
CROSS JOIN LATERAL (
  SELECT delivery_id FROM webhook_delivery
  WHERE endpoint_id = e.endpoint_id AND state = 'pending' AND next_attempt_at <= clock_timestamp()
    AND ($1::bigint IS NULL OR delivery_id = $1)
  ORDER BY next_attempt_at, delivery_id
  LIMIT CASE WHEN e.failing_since IS NULL THEN $2::integer ELSE 1 END) AS d
WHERE e.state = 'enabled';
