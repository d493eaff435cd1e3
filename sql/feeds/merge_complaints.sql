-- Purpose: adds the complaints of a feed. A complaint is identified by all its fields and its position among equal rows of the
--   file, so that the same file, or a longer one that overlaps it, adds nothing twice.
--   Records the days of report, also of known complaints: labels age by the days on which the feed reported.
-- Parameters: $1 load id.
-- Rows: one: rows_changed (added).
WITH merged AS (
  INSERT INTO complaint (phone, country, reported_at, violated_at, consumer_state, subject, recorded, occurrence, load_id)
  SELECT
    phone, country, reported_at, violated_at, consumer_state, subject, recorded,
    row_number() OVER (PARTITION BY phone, reported_at, violated_at, consumer_state, subject, recorded ORDER BY line_number),
    $1::bigint
  FROM feed_staging
  -- In the order of the unique key, so that concurrent loads do not deadlock.
  ORDER BY phone, reported_at, violated_at, consumer_state, subject, recorded, line_number
  ON CONFLICT ON CONSTRAINT complaint_once DO NOTHING
  RETURNING 1
), noted AS (
  INSERT INTO complaint_day (load_id, day, complaints)
  SELECT $1::bigint, (reported_at AT TIME ZONE 'UTC')::date, count(*) FROM feed_staging GROUP BY 2
)
SELECT count(*) AS rows_changed FROM merged;
