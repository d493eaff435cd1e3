-- Purpose: a pending delivery with its event and endpoint.
-- Parameters: $1 delivery id.
-- Rows: one, or none if the delivery is not pending.
SELECT d.delivery_id, d.attempts, d.first_attempt_at, d.next_attempt_at, d.endpoint_id, e.url, e.state AS endpoint_state, e.failing_since,
  e.last_attempt_at AS endpoint_attempt_at, v.message_id, v.type, v.occurred_at, v.data
FROM webhook_delivery AS d
JOIN webhook_endpoint AS e USING (endpoint_id)
JOIN webhook_event AS v USING (event_id)
WHERE d.delivery_id = $1 AND d.state = 'pending';
