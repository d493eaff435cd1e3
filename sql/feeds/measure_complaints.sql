-- Purpose: the measures of a complaint load for its gates. Rows are duplicates if all their kept fields are equal; a row is known
--   if such a complaint is stored already; it is old 28 days before the submission.
-- Parameters: $1 submitted at, $2 days after which a complaint does not count.
-- Rows: one: numbers, new_numbers, duplicates, known_rows, top_number_rows, top_state_rows, old_rows, rows_too_old.
WITH by_number AS MATERIALIZED (
  SELECT phone, count(*) AS rows FROM feed_staging GROUP BY phone
), alike AS MATERIALIZED (
  SELECT phone, reported_at, violated_at, consumer_state, subject, recorded, count(*) AS rows
  FROM feed_staging GROUP BY phone, reported_at, violated_at, consumer_state, subject, recorded
)
SELECT
  (SELECT count(*) FROM by_number) AS numbers,
  (SELECT count(*) FROM by_number AS n WHERE NOT EXISTS (SELECT FROM complaint AS c WHERE c.phone = n.phone)) AS new_numbers,
  (SELECT coalesce(sum(rows - 1), 0)::bigint FROM alike) AS duplicates,
  (SELECT coalesce(sum(a.rows), 0)::bigint FROM alike AS a WHERE EXISTS (
    SELECT FROM complaint AS c
    WHERE c.phone = a.phone AND c.reported_at = a.reported_at AND c.violated_at IS NOT DISTINCT FROM a.violated_at
      AND c.consumer_state IS NOT DISTINCT FROM a.consumer_state AND c.subject = a.subject AND c.recorded IS NOT DISTINCT FROM a.recorded)) AS known_rows,
  (SELECT coalesce(max(rows), 0) FROM by_number) AS top_number_rows,
  (SELECT coalesce(max(rows), 0) FROM (SELECT count(*) AS rows FROM feed_staging WHERE consumer_state IS NOT NULL GROUP BY consumer_state) AS s) AS top_state_rows,
  count(*) FILTER (WHERE reported_at < $1::timestamptz - interval '28 days') AS old_rows,
  count(*) FILTER (WHERE reported_at <= $1::timestamptz - make_interval(days => $2::integer)) AS rows_too_old
FROM feed_staging;
