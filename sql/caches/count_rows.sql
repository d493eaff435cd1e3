-- Purpose: what each artefact will hold, counted by SQL in the snapshot of the night.
-- Parameters: $1 the instant at which brands must be live.
-- Rows: one a cache, country ('' where the cache is not split) and level (NULL where the cache has none).
WITH counted AS (
  SELECT country, reputation_level, count(*) AS rows
  FROM phone_number
  GROUP BY country, reputation_level
)
SELECT 'phones' AS cache, country, reputation_level AS level, rows FROM counted WHERE country IS NOT NULL
UNION ALL
SELECT 'spammer_phones', '', reputation_level, sum(rows)::bigint FROM counted WHERE reputation_level <> 'NEUTRAL' GROUP BY reputation_level
UNION ALL
SELECT 'branded_phones', '', NULL, count(*) FROM branded_number WHERE live_from <= $1 AND (live_until IS NULL OR live_until > $1);
