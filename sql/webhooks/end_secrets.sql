-- Purpose: before a rotation, sets the end of the present secret, and removes those before it, so that two are live at most.
-- Parameters: $1 endpoint id, $2 seconds for which the present secret stays live.
-- Rows: none.
WITH present AS (
  SELECT max(secret_id) AS secret_id FROM webhook_secret WHERE endpoint_id = $1
), removed AS (
  DELETE FROM webhook_secret AS s USING present AS p WHERE s.endpoint_id = $1 AND (s.secret_id < p.secret_id OR $2::integer = 0)
)
UPDATE webhook_secret AS s SET ends_at = clock_timestamp() + make_interval(secs => $2)
FROM present AS p WHERE s.secret_id = p.secret_id AND $2::integer > 0;
