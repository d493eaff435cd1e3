-- Purpose: makes a delivery due again, from its first attempt.
-- Parameters: $1 delivery id, $2 name of its endpoint.
-- Rows: one with the endpoint's state, or none.
WITH found AS (
  SELECT d.delivery_id, e.name, e.state FROM webhook_delivery AS d JOIN webhook_endpoint AS e USING (endpoint_id) WHERE d.delivery_id = $1 AND e.name = $2
), replayed AS (
  UPDATE webhook_delivery AS d
  SET state = 'pending', attempts = 0, replays = replays + 1, first_attempt_at = NULL, next_attempt_at = clock_timestamp(), answer_status = NULL, failure = NULL
  FROM found AS f WHERE d.delivery_id = f.delivery_id AND f.state = 'enabled'
)
SELECT name, state FROM found;
