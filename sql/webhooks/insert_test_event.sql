-- Purpose: an event for one endpoint alone, with its delivery. Another process takes that on if this one does not within a minute.
-- Parameters: $1 endpoint id, $2 message id, $3 data (JSON text).
-- Rows: one: id of the delivery.
WITH made AS (
  INSERT INTO webhook_event (message_id, type, occurred_at, data, only_endpoint_id)
  VALUES ($2, 'webhook.test', clock_timestamp(), $3::jsonb, $1)
  RETURNING event_id
)
INSERT INTO webhook_delivery (event_id, endpoint_id, next_attempt_at)
SELECT event_id, $1, clock_timestamp() + interval '1 minute' FROM made
RETURNING delivery_id;
