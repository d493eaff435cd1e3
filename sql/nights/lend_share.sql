-- Purpose: gives the last open share of a build to another worker: the build itself begins with the first.
-- Parameters: $1 build id, $2 attempt.
-- Rows: the share with the parameters of its build; none if no share is open, or another attempt at the build or the night took over.
UPDATE build_share AS s SET state = 'lent'
FROM build AS b JOIN night_run AS r ON r.run_id = b.run_id AND r.generation = b.generation
WHERE s.build_id = b.build_id AND s.attempt = b.attempts AND b.state = 'running' AND r.state = 'running'
  AND (s.build_id, s.attempt, s.share) = (
    SELECT build_id, attempt, share FROM build_share
    WHERE build_id = $1 AND attempt = $2 AND state = 'open'
    ORDER BY share DESC LIMIT 1
    FOR UPDATE SKIP LOCKED
  )
RETURNING s.share, s.format, s.ranges, b.cache, b.country, b.plan, r.snapshot, r.evaluated_at;
