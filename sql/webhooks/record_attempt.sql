-- Purpose: records an attempt at a delivery, unless another process has recorded one of the same number.
-- Parameters: $1 delivery id, $2 attempts before, $3 new state, $4 instant of the attempt, $5 next attempt or NULL, $6 status of the
--   answer or NULL, $7 failure or NULL.
-- Rows: one if it was recorded.
UPDATE webhook_delivery
SET state = $3, attempts = attempts + 1, first_attempt_at = coalesce(first_attempt_at, $4), last_attempt_at = $4, next_attempt_at = $5,
  answer_status = $6, failure = $7
WHERE delivery_id = $1 AND attempts = $2 AND state = 'pending'
RETURNING delivery_id;
