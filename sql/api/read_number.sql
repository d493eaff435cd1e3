-- Purpose: the published label of one number with its reason, for /v1/numbers/{phone}.
-- Parameters: $1 phone in E.164, $2 handle of the brand whose numbers alone may be seen, or NULL for every number.
-- Rows: one; none for a number that the brand does not have.
SELECT given.phone, p.country, p.phone IS NOT NULL AS known, coalesce(p.reputation_level, 'NEUTRAL') AS level, p.reputation_category AS category, since.at AS since,
  CASE p.reputation_source WHEN 'redress' THEN 'clearing' ELSE p.reputation_source END AS source,
  p.feed_level IS NOT NULL AS feed, p.feed_level AS "feed.level", p.feed_category AS "feed.category", l.requested_at AS "feed.submitted_at",
  s.phone IS NOT NULL AS complaints, s.level AS "complaints.level", s.category AS "complaints.category", s.rule_version AS "complaints.rule_version",
  s.reports AS "complaints.reports", s.independent_reports AS "complaints.independent_reports", s.first_reported_at AS "complaints.first_reported_at",
  s.last_reported_at AS "complaints.last_reported_at", run.evaluated_at AS "complaints.evaluated_at",
  cleared.at IS NOT NULL AS cleared, cleared.at AS "cleared.at", p.cleared_at IS NOT NULL AS "cleared.in_effect",
  g.prefix IS NOT NULL AS range_risk, g.prefix AS "range_risk.prefix", g.risk AS "range_risk.risk", g.lift AS "range_risk.lift",
  g.numbers_reported AS "range_risk.numbers_reported", g.since AS "range_risk.since", g.until AS "range_risk.until",
  CASE
    WHEN b.phone IS NOT NULL THEN 'branded'
    WHEN p.cleared_at IS NOT NULL THEN 'cleared'
    WHEN g.prefix IS NOT NULL AND is_protected_number(given.phone) THEN 'protected'
  END AS "range_risk.exempt",
  coalesce(shown.name, shown.description, shown.detail, shown.image) IS NOT NULL AS display, shown.name AS "display.name",
  shown.description AS "display.description", shown.detail AS "display.detail", shown.image AS "display.image", b.phone IS NOT NULL AS "display.branded"
FROM (SELECT $1::text COLLATE "C" AS phone) AS given
LEFT JOIN phone_number AS p USING (phone)
LEFT JOIN feed_load AS l ON l.load_id = p.feed_load_id
LEFT JOIN complaint_score AS s USING (phone)
LEFT JOIN branded_number AS b ON b.phone = given.phone AND b.live_from <= now() AND (b.live_until IS NULL OR b.live_until > now())
LEFT JOIN spam_range AS g ON g.prefix = left(given.phone, -3)
LEFT JOIN LATERAL (
  SELECT e.at FROM label_event AS e
  WHERE e.phone = given.phone AND (e.level, e.category) IS DISTINCT FROM (e.level_before, e.category_before)
  ORDER BY e.event_id DESC LIMIT 1) AS since ON true
LEFT JOIN LATERAL (SELECT evaluated_at FROM scoring_run ORDER BY scoring_id DESC LIMIT 1) AS run ON s.phone IS NOT NULL
CROSS JOIN LATERAL (SELECT max(r.cleared_at) AS at FROM redress AS r WHERE r.phone = given.phone) AS cleared
CROSS JOIN LATERAL (
  SELECT coalesce(b.display_name, p.display_name) AS name,
    CASE WHEN b.phone IS NULL THEN p.display_description ELSE b.display_description END AS description,
    CASE WHEN b.phone IS NULL THEN p.display_detail ELSE b.display_detail END AS detail,
    CASE WHEN b.phone IS NULL THEN p.display_image ELSE b.display_image END AS image) AS shown
WHERE $2::text IS NULL OR EXISTS (
  SELECT FROM brand_number AS n JOIN brand_overview AS o USING (brand_id)
  WHERE n.phone = given.phone AND o.handle = $2 AND n.state IN ('verified', 'suspended'));
