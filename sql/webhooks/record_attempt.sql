-- Purpose: records an attempt at a delivery, unless another process has recorded one of the same number. The endpoint is locked first, as
--   by those who disable or remove it with its deliveries: in the other order each would wait for the other.
-- Parameters: $1 delivery id, $2 attempts before, $3 new state, $4 instant of the attempt, $5 next attempt or NULL, $6 status of the
--   answer or NULL, $7 failure or NULL.
-- Rows: one if it was recorded.
WITH held AS MATERIALIZED (
  SELECT e.endpoint_id
  FROM webhook_endpoint AS e
  WHERE e.endpoint_id = (SELECT endpoint_id FROM webhook_delivery WHERE delivery_id = $1)
  FOR NO KEY UPDATE
)
UPDATE webhook_delivery AS d
SET state = $3, attempts = attempts + 1, first_attempt_at = coalesce(first_attempt_at, $4), last_attempt_at = $4, next_attempt_at = $5,
  answer_status = $6, failure = $7
FROM held AS h
WHERE d.endpoint_id = h.endpoint_id AND d.delivery_id = $1 AND d.attempts = $2 AND d.state = 'pending'
RETURNING d.delivery_id;
