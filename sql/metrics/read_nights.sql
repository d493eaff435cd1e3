-- Purpose: the state of nights: the last finished night of all caches with its stages, when each outcome was last reached, and the
--   unfinished nights. The last 60 nights of all caches are looked at.
-- Parameters: none.
-- Rows: one: outcome, wait, prepare, build and publish (seconds; NULL for a stage that was not reached), published, unchanged and failed
--   (files), finished (epochs by outcome), open, and open_seconds (age of the oldest unfinished night; NULL without one).
WITH whole AS (
  SELECT run_id, generation, outcome, requested_at, opened_at, as_of, finished_at, report
  FROM night_run
  WHERE state = 'finished' AND only_cache IS NULL
  ORDER BY run_id DESC
  LIMIT 60
), last AS (
  SELECT w.*, (SELECT max(built_at) FROM build AS b WHERE b.run_id = w.run_id AND b.generation = w.generation) AS built_at
  FROM whole AS w
  ORDER BY run_id DESC
  LIMIT 1
)
SELECT l.outcome,
  extract(epoch FROM l.opened_at - l.requested_at)::double precision AS wait,
  extract(epoch FROM l.as_of - l.opened_at)::double precision AS prepare,
  extract(epoch FROM l.built_at - l.as_of)::double precision AS build,
  extract(epoch FROM l.finished_at - coalesce(l.built_at, l.as_of))::double precision AS publish,
  (l.report #>> '{counts,published}')::integer AS published, (l.report #>> '{counts,unchanged}')::integer AS unchanged,
  (l.report #>> '{counts,failed}')::integer AS failed,
  (SELECT coalesce(jsonb_object_agg(outcome, epoch), '{}')
   FROM (SELECT outcome, extract(epoch FROM max(finished_at)) AS epoch FROM whole WHERE outcome IS NOT NULL GROUP BY outcome) AS o) AS finished,
  o.open, o.open_seconds
FROM (SELECT count(*) AS open, extract(epoch FROM now() - min(requested_at))::double precision AS open_seconds
      FROM night_run WHERE state <> 'finished') AS o
LEFT JOIN last AS l ON true;
