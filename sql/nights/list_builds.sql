-- Purpose: the builds of the current attempt at a night, for progress.
-- Parameters: $1 run id.
-- Rows: one a build, by cache and country.
SELECT b.cache, b.country, b.state, b.rows_expected, b.rows, b.attempts, b.failure_code
FROM build AS b JOIN night_run AS r ON r.run_id = b.run_id AND r.generation = b.generation
WHERE b.run_id = $1
ORDER BY b.cache, b.country;
