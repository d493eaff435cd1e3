-- Purpose: records the snapshot of a night with its expected artefacts, when no garbage is collected.
-- Parameters: $1 run id, $2 generation, $3 as of, $4 snapshot id, $5 transactions that it sees (pg_snapshot as text), $6 cluster,
--   $7 caches, $8 countries, $9 rows expected, $10 levels expected (JSON texts), $11 plans (JSON texts), $12 reasons of the builds that are set aside, NULL for the others.
-- Rows: the id of each build with its state; none if another attempt took over.
WITH collection AS (
  SELECT pg_advisory_xact_lock_shared(hashtextextended('collection of garbage', 0))
), run AS (
  UPDATE night_run SET as_of = $3, snapshot = $4, transactions = $5, cluster = $6
  WHERE run_id = $1 AND generation = $2 AND state = 'running' AND EXISTS (SELECT FROM collection)
  RETURNING run_id, generation
)
INSERT INTO build (run_id, generation, cache, country, rows_expected, levels_expected, plan, state, failure_code, failure_reason)
SELECT run.run_id, run.generation, e.cache, e.country, e.rows, e.levels::jsonb, e.plan::jsonb,
  CASE WHEN e.reason IS NULL THEN 'pending' ELSE 'failed' END, CASE WHEN e.reason IS NOT NULL THEN 'build_lost' END, e.reason
FROM run, unnest($7::text[], $8::text[], $9::bigint[], $10::text[], $11::text[], $12::text[]) AS e (cache, country, rows, levels, plan, reason)
RETURNING build_id, state;
