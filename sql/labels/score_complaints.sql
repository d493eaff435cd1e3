-- Purpose: scores the numbers of complaint_candidate, or all, whose complaints count, as of an instant, into complaint_scored. The same
--   complaints and instant give the same rows: points are whole numbers. docs/scoring.md explains the rule, addUpReports (complaint-rule.ts) is the same rule in TypeScript.
--   A protected number is scored like any other; the table of numbers withholds its label.
-- Parameters: $1 evaluated at, $2 rule version, $3 the days that count, $4 points of each, $5 points of a further state on that day,
--   $6 further states of a day that count, $7 points for more than one state, $8 independent reports needed, $9 points needed,
--   $10 category of a recorded message, $11 category otherwise, $12 the transactions that are seen (pg_snapshot): others do not count,
--   but those that this database cluster has not begun, which a restored database has from another one; $13 true: all numbers.
-- Rows: one: scored (numbers whose complaints count).
WITH worth AS (
  SELECT * FROM unnest($3::date[], $4::integer[], $5::integer[]) AS w (day, day_points, further_points)
), cleared AS (
  SELECT phone, max(cleared_at) AS cleared_at FROM redress
  WHERE pg_visible_in_snapshot(recorded_by, $12::text::pg_snapshot) OR recorded_by >= pg_snapshot_xmax(pg_current_snapshot())
  GROUP BY phone
), counting AS (
  SELECT min(day)::timestamp AT TIME ZONE 'UTC' AS since FROM worth
), reported AS (
  SELECT c.* FROM complaint AS c, counting WHERE $13 AND c.reported_at >= since AND c.reported_at <= $1::timestamptz
  UNION ALL
  -- Of few numbers by index, one after another (OFFSET 0): joined freely, all complaints were read, load by load.
  SELECT c.*
  FROM complaint_candidate AS k, counting, LATERAL (
    SELECT c.* FROM complaint AS c WHERE c.phone = k.phone AND c.reported_at >= since AND c.reported_at <= $1::timestamptz OFFSET 0
  ) AS c
  WHERE NOT $13
), counted AS MATERIALIZED (
  -- A complaint counts against a cleared number only if it was submitted after the clearing.
  SELECT c.phone, c.country, c.reported_at, c.consumer_state, c.subject, c.recorded, w.day, w.day_points, w.further_points
  FROM reported AS c
  JOIN worth AS w ON w.day = (c.reported_at AT TIME ZONE 'UTC')::date
  JOIN feed_load AS l USING (load_id)
  LEFT JOIN cleared AS r USING (phone)
  WHERE (r.cleared_at IS NULL OR l.requested_at > r.cleared_at)
    AND (pg_visible_in_snapshot(l.merged_by, $12::text::pg_snapshot) OR l.merged_by >= pg_snapshot_xmax(pg_current_snapshot()))
), independent AS (
  -- Reports from one state on one day count once.
  SELECT
    phone, day, consumer_state, day_points, further_points, min(country) AS country, count(*) AS complaints,
    min(reported_at) AS first_reported_at, max(reported_at) AS last_reported_at,
    row_number() OVER (PARTITION BY phone, day ORDER BY consumer_state) AS place
  FROM counted
  GROUP BY phone, day, consumer_state, day_points, further_points
), by_phone AS (
  SELECT
    phone, min(country) AS country,
    sum(CASE WHEN place = 1 THEN day_points WHEN place <= 1 + $6::integer THEN further_points ELSE 0 END)
      + CASE WHEN count(DISTINCT consumer_state) > 1 THEN $7::integer ELSE 0 END AS points,
    sum(complaints) AS reports, count(*) AS independent_reports, count(*) FILTER (WHERE place = 1) AS days,
    count(DISTINCT consumer_state) AS states, min(first_reported_at) AS first_reported_at, max(last_reported_at) AS last_reported_at
  FROM independent
  GROUP BY phone
), labelled AS (
  SELECT phone FROM by_phone WHERE independent_reports >= $8::integer AND points >= $9::integer
), subjects AS (
  SELECT c.subject, s.category
  FROM (SELECT DISTINCT subject FROM counted) AS c
  JOIN complaint_subject AS s ON s.subject = lower(regexp_replace(c.subject, '\s+', ' ', 'g'))
), speaking AS (
  -- The latest of several complaints from one state on one day gives the category.
  SELECT DISTINCT ON (phone, day, consumer_state)
    phone, day_points, coalesce(s.category, CASE WHEN c.recorded THEN $10::smallint ELSE $11::smallint END) AS category
  FROM counted AS c
  JOIN labelled USING (phone)
  LEFT JOIN subjects AS s USING (subject)
  ORDER BY phone, day, consumer_state, reported_at DESC, category
), by_category AS (
  SELECT phone, category, sum(day_points) AS points FROM speaking GROUP BY phone, category
), chosen AS (
  SELECT DISTINCT ON (phone) phone, category FROM by_category ORDER BY phone, points DESC, category
), scored AS (
  INSERT INTO complaint_scored
    (phone, country, level, category, score, reports, independent_reports, days, states, first_reported_at, last_reported_at, rule_version, scored_at)
  SELECT
    p.phone, p.country, coalesce(k.level, 'NEUTRAL'), k.category, p.points, p.reports, p.independent_reports, p.days, p.states,
    p.first_reported_at, p.last_reported_at, $2, $1::timestamptz
  FROM by_phone AS p
  LEFT JOIN chosen AS c USING (phone)
  LEFT JOIN reputation_category AS k ON k.category = c.category
  RETURNING 1
)
SELECT count(*) AS scored FROM scored;
