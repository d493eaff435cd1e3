-- Purpose: the age of each day that counts as of an instant: the counted days between it and the day of evaluation. docs/scoring.md
--   explains the rule.
-- Parameters: $1 evaluated at, $2 window in calendar days, $3 longest silence of the feed in days during which labels do not age,
--   $4 ages from which on a day does not count, $5 the transactions that are seen (pg_snapshot): loads of others do not count, but those that this
--   database cluster has not begun, which a restored database has from another one.
-- Rows: one: days (ascending), ages, silent_days (days since the feed's last report; NULL if there is none within twice the window).
WITH evaluation AS (
  SELECT ($1::timestamptz AT TIME ZONE 'UTC')::date AS today
), spoken AS (
  SELECT DISTINCT day FROM complaint_day JOIN feed_load USING (load_id), evaluation
  WHERE day < today AND (pg_visible_in_snapshot(merged_by, $5::text::pg_snapshot) OR merged_by >= pg_snapshot_xmax(pg_current_snapshot()))
), silence AS (
  -- Days since the feed's last report. Over twice the window, to include a silence that started before it.
  SELECT d.day::date AS day, d.day::date - max(s.day) OVER (ORDER BY d.day) AS days
  FROM evaluation, generate_series(today - 2 * $2::integer, today - 1, interval '1 day') AS d (day)
  LEFT JOIN spoken AS s ON s.day = d.day::date
), aged AS (
  SELECT day, count(*) FILTER (WHERE days = 0 OR days > $3::integer) OVER (ORDER BY day DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS age
  FROM silence
  UNION ALL
  SELECT today, 0 FROM evaluation
)
SELECT
  array_agg(day::text ORDER BY day) AS days, array_agg(age::integer ORDER BY day) AS ages,
  (SELECT days FROM silence, evaluation WHERE day = today - 1) AS silent_days
FROM aged, evaluation
WHERE day > today - $2::integer AND age < $4::integer;
