-- Purpose: records the snapshot of a night with its expected artefacts.
-- Parameters: $1 run id, $2 generation, $3 as of, $4 snapshot id, $5 transactions that it sees (pg_snapshot as text), $6 cluster,
--   $7 caches, $8 countries, $9 rows expected, $10 levels expected (JSON texts), $11 plans (JSON texts).
-- Rows: the id of each build with its cache and country; none if another attempt took over.
WITH run AS (
  UPDATE night_run SET as_of = $3, snapshot = $4, transactions = $5, cluster = $6
  WHERE run_id = $1 AND generation = $2 AND state = 'running'
  RETURNING run_id, generation
)
INSERT INTO build (run_id, generation, cache, country, rows_expected, levels_expected, plan)
SELECT run.run_id, run.generation, e.cache, e.country, e.rows, e.levels::jsonb, e.plan::jsonb
FROM run, unnest($7::text[], $8::text[], $9::bigint[], $10::text[], $11::text[]) AS e (cache, country, rows, levels, plan)
RETURNING build_id, cache, country;
