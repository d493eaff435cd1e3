-- Purpose: the last arrival of each feed and source, and the usual interval. A complaint file that adds nothing is a repeated
--   one, and no arrival.
-- Parameters: $1 number of latest loads.
-- Rows: feed, source, last_at, rows of that load, loads, and usual_seconds between two (nine of ten are no longer; NULL for one load).
WITH arrived AS (
  SELECT feed, source, requested_at, rows_accepted,
    row_number() OVER (PARTITION BY feed, source ORDER BY load_id DESC) AS place,
    requested_at - lag(requested_at) OVER (PARTITION BY feed, source ORDER BY load_id) AS since_before
  FROM feed_load
  WHERE state = 'done' AND (feed <> 'complaints' OR rows_changed > 0)
)
SELECT feed, source, max(requested_at) AS last_at, (array_agg(rows_accepted ORDER BY place))[1] AS rows, count(*) AS loads,
  extract(epoch FROM percentile_disc(0.9) WITHIN GROUP (ORDER BY since_before))::double precision AS usual_seconds
FROM arrived
WHERE place <= $1
GROUP BY feed, source
ORDER BY feed, source;
