-- Purpose: the last build of an artefact on each day that was built whole, for its trends.
-- Parameters: $1 cache, $2 country, $3 first day.
-- Rows: one a day with such a build, oldest first: day, seconds (from its start), rows, bytes.
SELECT DISTINCT ON (r.night_date) r.night_date AS day, extract(epoch FROM b.built_at - b.started_at)::double precision AS seconds,
  b.rows, (b.facts #>> '{file,bytes}')::bigint AS bytes
FROM build AS b
JOIN night_run AS r ON r.run_id = b.run_id AND r.generation = b.generation
WHERE b.cache = $1 AND b.country = $2 AND r.night_date >= $3::date AND b.built_at IS NOT NULL
ORDER BY r.night_date, r.run_id DESC
