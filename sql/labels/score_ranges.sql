-- Purpose: finds the ranges at risk as of an instant. The same complaints and instant give the same ranges. docs/scoring.md explains
--   the rule. A number counts once, by its last report; cleared numbers count by later reports only.
-- Parameters: $1 evaluated at, $2 rule version, $3 window in days, $4 half-life in days, $5 reported numbers needed, $6 score needed,
--   $7 ranges of a country at most, $8 scores from which on the risks are higher, ascending, $9 the risks (one more than $8),
--   $10 the lift of each risk.
-- Rows: one: listed, written (inserted or changed), removed.
WITH cleared AS (
  SELECT phone, max(cleared_at) AS cleared_at FROM redress GROUP BY phone
), reported AS (
  SELECT c.phone, min(c.country) AS country, max(c.reported_at) AS last_reported_at
  FROM complaint AS c
  JOIN feed_load AS l USING (load_id)
  LEFT JOIN cleared AS r USING (phone)
  WHERE c.reported_at <= $1::timestamptz
    AND c.reported_at > $1::timestamptz - make_interval(days => $3::integer)
    AND (r.cleared_at IS NULL OR l.requested_at > r.cleared_at)
  GROUP BY c.phone
), scored AS (
  SELECT
    left(phone, -3) AS prefix, min(country) AS country, count(*)::integer AS numbers_reported,
    sum(round(power(0.5::double precision, extract(epoch FROM $1::timestamptz - last_reported_at)::double precision / 86400 / $4::double precision)::numeric, 9)) AS score,
    -- When this number leaves the window, too few remain.
    (array_agg(last_reported_at ORDER BY last_reported_at DESC))[$5::integer] AS needed_reported_at
  FROM reported
  GROUP BY 1
  HAVING count(*) >= $5::integer
), ranked AS (
  SELECT scored.*, row_number() OVER (PARTITION BY country ORDER BY score DESC, prefix) AS rank,
    width_bucket(score, $8::numeric[]) + 1 AS risk
  FROM scored
  WHERE score >= $6::numeric
), listed AS (
  SELECT
    prefix, country, ($9::text[])[risk] AS risk, ($10::integer[])[risk] AS lift, numbers_reported,
    ($1::timestamptz AT TIME ZONE 'UTC')::date AS since,
    (least(
      needed_reported_at + make_interval(days => $3::integer),
      $1::timestamptz + make_interval(secs => log(2.0, score / $6::numeric)::double precision * $4::double precision * 86400)
    ) AT TIME ZONE 'UTC')::date AS until
  FROM ranked
  WHERE rank <= $7::integer
), removed AS (
  -- What is listed no more is found by grouping: the lists are as long, and a loop over one for each row of the other would be quadratic.
  DELETE FROM spam_range AS r
  USING (
    SELECT prefix FROM (SELECT prefix, false AS is_listed FROM spam_range UNION ALL SELECT prefix, true FROM listed) AS row
    GROUP BY prefix HAVING NOT bool_or(is_listed)) AS gone
  WHERE r.prefix = gone.prefix
  RETURNING 1
), written AS (
  INSERT INTO spam_range AS known (prefix, country, risk, lift, numbers_reported, since, until, rule_version)
  SELECT prefix, country, risk, lift, numbers_reported, since, until, $2 FROM listed ORDER BY prefix
  ON CONFLICT (prefix) DO UPDATE SET
    country = EXCLUDED.country, risk = EXCLUDED.risk, lift = EXCLUDED.lift, numbers_reported = EXCLUDED.numbers_reported,
    until = EXCLUDED.until, rule_version = EXCLUDED.rule_version
  WHERE (known.country, known.risk, known.lift, known.numbers_reported, known.until, known.rule_version)
    IS DISTINCT FROM (EXCLUDED.country, EXCLUDED.risk, EXCLUDED.lift, EXCLUDED.numbers_reported, EXCLUDED.until, EXCLUDED.rule_version)
  RETURNING 1
)
SELECT
  (SELECT count(*) FROM listed)::integer AS listed,
  (SELECT count(*) FROM written)::integer AS written,
  (SELECT count(*) FROM removed)::integer AS removed;
