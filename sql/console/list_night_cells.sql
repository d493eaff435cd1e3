-- Purpose: the outcome of each artefact on each day, by the latest night of the day that was to build it
-- Parameters: $1 first day, $2 last day
-- Rows: cache, country, night_date, run_id, state (published, unchanged, stale, failed, running), failure_code, nights (of the day
--   that were to build it), by cache, country and day
WITH run AS (
  SELECT run_id, generation, night_date, state, failure_code, only_cache, only_country, finished_at
  FROM night_run
  WHERE night_date BETWEEN $1::date AND $2::date
), attempt AS (
  SELECT b.cache, b.country, r.night_date, r.run_id, r.finished_at, coalesce(b.failure_code, r.failure_code) AS failure_code,
    CASE
      WHEN b.state IN ('published', 'unchanged') THEN b.state
      WHEN b.state <> 'failed' AND r.state <> 'finished' THEN 'running'
      ELSE 'failed'
    END AS state
  FROM run AS r JOIN build AS b ON b.run_id = r.run_id AND b.generation = r.generation
  UNION ALL
  -- A night without counted files is shown at each artefact that it was to build.
  SELECT p.cache, p.country, r.night_date, r.run_id, r.finished_at, r.failure_code, CASE WHEN r.state = 'finished' THEN 'failed' ELSE 'running' END
  FROM run AS r
  JOIN publication AS p ON (r.only_cache IS NULL OR r.only_cache = p.cache) AND (r.only_country IS NULL OR r.only_country = p.country)
  WHERE NOT EXISTS (SELECT FROM build AS b WHERE b.run_id = r.run_id AND b.generation = r.generation)
), latest AS (
  SELECT DISTINCT ON (cache, country, night_date) *, count(*) OVER (PARTITION BY cache, country, night_date) AS nights
  FROM attempt
  ORDER BY cache, country, night_date, run_id DESC
)
SELECT l.cache, l.country, l.night_date, l.run_id, l.failure_code, l.nights,
  -- The previous version stays published, if there was one.
  CASE
    WHEN l.state = 'failed' AND EXISTS (
      SELECT FROM artefact_version AS v WHERE v.cache = l.cache AND v.country = l.country AND v.published_at <= coalesce(l.finished_at, now()))
    THEN 'stale' ELSE l.state
  END AS state
FROM latest AS l
ORDER BY l.cache, l.country, l.night_date
