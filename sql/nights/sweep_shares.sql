-- Purpose: removes the shares of builds that have ended, and of attempts that others took over.
-- Parameters: none.
-- Rows: none.
DELETE FROM build_share AS s
WHERE NOT EXISTS (
  SELECT FROM build AS b JOIN night_run AS r ON r.run_id = b.run_id AND r.generation = b.generation
  WHERE b.build_id = s.build_id AND b.attempts = s.attempt AND b.state = 'running' AND r.state = 'running'
);
