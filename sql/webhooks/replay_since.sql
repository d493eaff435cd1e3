-- Purpose: makes due what has happened since an instant and an endpoint takes: deliveries again, and those that were never made.
-- Parameters: $1 endpoint id, $2 instant, $3 true to leave out what was delivered.
-- Rows: one: deliveries.
WITH replayed AS (
  INSERT INTO webhook_delivery AS d (event_id, endpoint_id)
  SELECT v.event_id, e.endpoint_id
  FROM webhook_endpoint AS e
  JOIN webhook_event AS v ON v.occurred_at >= $2 AND v.only_endpoint_id IS NULL AND is_announced_to(e, v)
  WHERE e.endpoint_id = $1
  ORDER BY v.event_id
  ON CONFLICT (event_id, endpoint_id) DO UPDATE
  SET state = 'pending', attempts = 0, replays = d.replays + 1, first_attempt_at = NULL, next_attempt_at = clock_timestamp(), answer_status = NULL, failure = NULL
  WHERE d.state <> 'pending' AND NOT ($3::boolean AND d.state = 'delivered')
  RETURNING 1
)
SELECT count(*) AS deliveries FROM replayed;
