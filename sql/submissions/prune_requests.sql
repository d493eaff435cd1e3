-- Purpose: forgets requests that the intake accepted before an instant, with their idempotency keys. What they became stays.
-- Parameters: $1 instant, $2 most rows.
-- Rows: one: removed.
WITH old AS (
  SELECT request_id FROM intake_request WHERE accepted_at < $1 ORDER BY accepted_at LIMIT $2
), removed AS (
  DELETE FROM intake_request AS r USING old WHERE r.request_id = old.request_id RETURNING 1
)
SELECT count(*) AS removed FROM removed;
