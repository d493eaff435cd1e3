-- Purpose: scores every number with complaints, as of an instant. The same complaints and instant give the same rows:
--   weights are rounded to numeric before they are summed, so that the order of summing does not matter.
--   docs/scoring.md explains the rule.
-- Parameters: $1 evaluated at, $2 rule version, $3 window in days, $4 half-life in days, $5 independent reports needed,
--   $6 score needed, $7 category of a recorded message, $8 category otherwise.
-- Rows: one: scored (numbers with complaints), transactions (what this statement saw, pg_snapshot as text).
WITH cleared AS (
  SELECT phone, max(cleared_at) AS cleared_at FROM redress GROUP BY phone
), counted AS (
  -- A complaint counts against a cleared number only if it was submitted after the clearing.
  SELECT
    c.phone, c.reported_at, c.consumer_state,
    (coalesce(c.violated_at, c.reported_at) AT TIME ZONE 'UTC')::date AS day,
    coalesce(s.category, CASE WHEN c.recorded THEN $7::smallint ELSE $8::smallint END) AS category
  FROM complaint AS c
  JOIN feed_load AS l USING (load_id)
  LEFT JOIN cleared AS r USING (phone)
  LEFT JOIN complaint_subject AS s ON s.subject = lower(regexp_replace(c.subject, '\s+', ' ', 'g'))
  WHERE c.reported_at <= $1::timestamptz
    AND c.reported_at > $1::timestamptz - make_interval(days => $3::integer)
    AND (r.cleared_at IS NULL OR l.requested_at > r.cleared_at)
), independent AS (
  -- Reports from one state about one day are one; the latest speaks for them.
  SELECT DISTINCT ON (phone, consumer_state, day) phone, reported_at, category
  FROM counted
  ORDER BY phone, consumer_state, day, reported_at DESC, category
), weighted AS (
  SELECT
    phone, category,
    round(power(0.5::double precision, extract(epoch FROM $1::timestamptz - reported_at)::double precision / 86400 / $4::double precision)::numeric, 9) AS weight
  FROM independent
), by_category AS (
  SELECT phone, category, sum(weight) AS weight, count(*) AS reports FROM weighted GROUP BY phone, category
), by_phone AS (
  SELECT
    phone, sum(weight) AS score, sum(reports)::integer AS independent_reports,
    (array_agg(category ORDER BY weight DESC, category))[1] AS category
  FROM by_category
  GROUP BY phone
), extent AS (
  SELECT phone, count(*)::integer AS reports, min(reported_at) AS first_reported_at, max(reported_at) AS last_reported_at
  FROM counted
  GROUP BY phone
), known AS (
  SELECT phone, min(country) AS country FROM complaint GROUP BY phone
), scored AS (
  INSERT INTO complaint_score AS before
    (phone, country, level, category, score, reports, independent_reports, first_reported_at, last_reported_at, rule_version, scored_at)
  SELECT
    k.phone, k.country,
    CASE WHEN p.independent_reports >= $5::integer AND p.score >= $6::numeric THEN c.level ELSE 'NEUTRAL' END,
    CASE WHEN p.independent_reports >= $5::integer AND p.score >= $6::numeric THEN p.category END,
    coalesce(p.score, 0), coalesce(e.reports, 0), coalesce(p.independent_reports, 0),
    e.first_reported_at, e.last_reported_at, $2, $1::timestamptz
  FROM known AS k
  LEFT JOIN by_phone AS p USING (phone)
  LEFT JOIN extent AS e USING (phone)
  LEFT JOIN reputation_category AS c ON c.category = p.category
  ORDER BY k.phone
  ON CONFLICT (phone) DO UPDATE SET
    country = EXCLUDED.country, level = EXCLUDED.level, category = EXCLUDED.category, score = EXCLUDED.score,
    reports = EXCLUDED.reports, independent_reports = EXCLUDED.independent_reports,
    first_reported_at = EXCLUDED.first_reported_at, last_reported_at = EXCLUDED.last_reported_at,
    rule_version = EXCLUDED.rule_version, scored_at = EXCLUDED.scored_at
  WHERE before IS DISTINCT FROM EXCLUDED
)
SELECT count(*) AS scored, pg_current_snapshot()::text AS transactions FROM known;
