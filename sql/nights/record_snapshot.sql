-- Purpose: records the snapshot of a night with the artefacts that are expected of it.
-- Parameters: $1 run id, $2 generation, $3 as of, $4 snapshot id, $5 caches, $6 countries, $7 rows expected, $8 levels expected (JSON texts).
-- Rows: the id of each build with its cache and country; none if another attempt took over.
WITH run AS (
  UPDATE night_run SET as_of = $3, snapshot = $4
  WHERE run_id = $1 AND generation = $2 AND state = 'running'
  RETURNING run_id, generation
)
INSERT INTO build (run_id, generation, cache, country, rows_expected, levels_expected)
SELECT run.run_id, run.generation, e.cache, e.country, e.rows, e.levels::jsonb
FROM run, unnest($5::text[], $6::text[], $7::bigint[], $8::text[]) AS e (cache, country, rows, levels)
RETURNING build_id, cache, country;
