-- Purpose: the request of a night, and the instants of its steps
-- Parameters: $1 run id
-- Rows: one or none; only: the requested artefacts, absent for all
SELECT only_cache IS NOT NULL AS only, only_cache AS "only.cache", coalesce(only_country, '') AS "only.country", accept_shrink,
  as_of, evaluated_at
FROM night_run
WHERE run_id = $1
