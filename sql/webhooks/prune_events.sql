-- Purpose: deletes events of webhooks from before an instant, with their deliveries.
-- Parameters: $1 instant, $2 most events of one statement.
-- Rows: one: removed (events).
WITH old AS (
  SELECT event_id FROM webhook_event WHERE occurred_at < $1 ORDER BY occurred_at LIMIT $2
), removed AS (
  DELETE FROM webhook_event AS v USING old AS o WHERE v.event_id = o.event_id RETURNING 1
)
SELECT count(*) AS removed FROM removed;
