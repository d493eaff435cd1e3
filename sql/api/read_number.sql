-- Purpose: the published label of one number with its reason, for /v1/numbers/{phone}.
-- Parameters: $1 phone in E.164, $2 handle of the brand whose numbers alone may be seen, or NULL for every number.
-- Rows: one; none for a number that the brand does not have. Columns of a part that is absent are NULL.
SELECT
  p.phone IS NOT NULL AS known, p.country, coalesce(p.reputation_level, 'NEUTRAL') AS level, p.reputation_category AS category, p.reputation_source AS source,
  since.at AS since, p.feed_level, p.feed_category, l.requested_at AS feed_submitted_at,
  s.phone IS NOT NULL AS is_scored, s.level AS score_level, s.category AS score_category, s.reports, s.independent_reports, s.first_reported_at, s.last_reported_at,
  s.rule_version, run.evaluated_at, (SELECT max(r.cleared_at) FROM redress AS r WHERE r.phone = given.phone) AS cleared_at, p.cleared_at IS NOT NULL AS is_cleared,
  g.prefix AS range_prefix, g.risk AS range_risk, g.lift AS range_lift, g.numbers_reported, g.since AS range_since, g.until AS range_until,
  g.prefix IS NOT NULL AND is_protected_number(given.phone) AS is_protected,
  b.phone IS NOT NULL AS branded, coalesce(b.display_name, p.display_name) AS display_name,
  CASE WHEN b.phone IS NULL THEN p.display_description ELSE b.display_description END AS display_description,
  CASE WHEN b.phone IS NULL THEN p.display_detail ELSE b.display_detail END AS display_detail,
  CASE WHEN b.phone IS NULL THEN p.display_image ELSE b.display_image END AS display_image
FROM (SELECT $1::text COLLATE "C" AS phone) AS given
LEFT JOIN phone_number AS p USING (phone)
LEFT JOIN feed_load AS l ON l.load_id = p.feed_load_id
LEFT JOIN complaint_score AS s USING (phone)
LEFT JOIN branded_number AS b ON b.phone = given.phone AND b.live_from <= now() AND (b.live_until IS NULL OR b.live_until > now())
LEFT JOIN spam_range AS g ON g.prefix = left(given.phone, -3)
LEFT JOIN LATERAL (
  SELECT CASE WHEN e.cause <> 'before_history' THEN e.at END AS at FROM label_event AS e
  WHERE e.phone = given.phone AND (e.level, e.category) IS DISTINCT FROM (e.level_before, e.category_before)
  ORDER BY e.event_id DESC LIMIT 1) AS since ON true
LEFT JOIN LATERAL (SELECT evaluated_at FROM scoring_run ORDER BY scoring_id DESC LIMIT 1) AS run ON s.phone IS NOT NULL
WHERE $2::text IS NULL OR EXISTS (
  SELECT FROM brand_number AS n JOIN brand_overview AS o USING (brand_id)
  WHERE n.phone = given.phone AND o.handle = $2 AND n.state IN ('verified', 'suspended'));
