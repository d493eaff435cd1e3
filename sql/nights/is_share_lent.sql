-- Purpose: whether a share is still that of the worker that it was lent to.
-- Parameters: $1 build id, $2 attempt, $3 share.
-- Rows: one if it is, else none.
SELECT true AS is_lent
FROM build_share AS s
JOIN build AS b ON b.build_id = s.build_id AND b.attempts = s.attempt
JOIN night_run AS r ON r.run_id = b.run_id AND r.generation = b.generation
WHERE s.build_id = $1 AND s.attempt = $2 AND s.share = $3
  AND s.state = 'lent' AND b.state = 'running' AND r.state = 'running';
