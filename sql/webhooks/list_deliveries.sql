-- Purpose: deliveries of webhooks, newest first.
-- Parameters: $1 name of the endpoint or NULL, $2 state or NULL, $3 delivery id before which the page begins or NULL, $4 limit.
-- Rows: one a delivery.
SELECT d.delivery_id, e.name AS endpoint, v.message_id, v.type, v.occurred_at, v.data, d.state, d.attempts, d.replays, d.last_attempt_at,
  d.next_attempt_at, d.answer_status, d.failure
FROM webhook_delivery AS d
JOIN webhook_endpoint AS e USING (endpoint_id)
JOIN webhook_event AS v USING (event_id)
WHERE ($1::text IS NULL OR d.endpoint_id = (SELECT endpoint_id FROM webhook_endpoint WHERE name = $1)) AND ($2::text IS NULL OR d.state = $2) AND ($3::bigint IS NULL OR d.delivery_id < $3)
ORDER BY d.delivery_id DESC
LIMIT $4;
