-- Purpose: the artefacts of a night whose builds ended without an outcome in earlier attempts at the night.
-- Parameters: $1 run id.
-- Rows: one an artefact, with the number of these attempts, the most first.
SELECT cache, country, sum(crashes + (state = 'running')::integer)::integer AS crashes
FROM build
WHERE run_id = $1
GROUP BY cache, country
HAVING sum(crashes + (state = 'running')::integer) > 0
ORDER BY crashes DESC, cache, country;
