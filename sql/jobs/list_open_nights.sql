-- Purpose: the nights that are due or running, for comparison with the queues.
-- Parameters: $1 run id, or NULL for all.
-- Rows: one a night, the oldest first; build_ids: the builds of the current attempt, empty until
-- its snapshot is taken; open_build_ids: those without an outcome.
SELECT
  r.run_id, r.generation,
  coalesce(array_agg(b.build_id::float8 ORDER BY b.build_id) FILTER (WHERE b.build_id IS NOT NULL), '{}') AS build_ids,
  coalesce(array_agg(b.build_id::float8 ORDER BY b.build_id) FILTER (WHERE b.state IN ('pending', 'running')), '{}') AS open_build_ids
FROM night_run AS r LEFT JOIN build AS b ON b.run_id = r.run_id AND b.generation = r.generation
WHERE r.state <> 'finished' AND ($1::bigint IS NULL OR r.run_id = $1)
GROUP BY r.run_id
ORDER BY r.run_id;
