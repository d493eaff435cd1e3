-- Purpose: records the snapshot of a night with its expected artefacts, when no garbage is collected.
-- Parameters: $1 run id, $2 generation, $3 as of, $4 snapshot id, $5 caches, $6 countries, $7 reasons of the builds that are set aside,
--   NULL for the others, $8 transactions that the snapshot sees (pg_snapshot as text), $9 cluster.
-- Rows: the id of each build with its state; none if another attempt took over.
WITH collection AS (
  SELECT pg_advisory_xact_lock_shared(hashtextextended('collection of garbage', 0))
), run AS (
  UPDATE night_run SET as_of = $3, snapshot = $4, transactions = $8, cluster = $9
  WHERE run_id = $1 AND generation = $2 AND state = 'running' AND EXISTS (SELECT FROM collection)
  RETURNING run_id, generation
)
INSERT INTO build (run_id, generation, cache, country, rows_expected, state, failure_code, failure_reason)
SELECT run.run_id, run.generation, e.cache, e.country, (v.facts ->> 'rows')::bigint,
  CASE WHEN e.reason IS NULL THEN 'pending' ELSE 'failed' END, CASE WHEN e.reason IS NOT NULL THEN 'build_lost' END, e.reason
FROM run, unnest($5::text[], $6::text[], $7::text[]) AS e (cache, country, reason)
LEFT JOIN publication AS p USING (cache, country)
LEFT JOIN artefact_version AS v USING (cache, country, version)
RETURNING build_id, state;
