-- Purpose: all facts about a number.
-- Parameters: $1 phone in E.164.
-- Rows: one.
SELECT
  given.phone, coalesce(p.country, s.country) AS country,
  p.phone IS NOT NULL AS reputation, p.reputation_level AS "reputation.level", k.category IS NOT NULL AS "reputation.category",
  k.category AS "reputation.category.id", k.name AS "reputation.category.name", p.reputation_source AS "reputation.source",
  (SELECT e.at FROM label_event AS e
    WHERE e.phone = given.phone AND (e.level, e.category) IS DISTINCT FROM (e.level_before, e.category_before)
    ORDER BY e.event_id DESC LIMIT 1) AS since,
  p.phone IS NOT NULL AS display, p.display_name AS "display.name", p.display_description AS "display.description",
  p.display_detail AS "display.detail", p.display_image AS "display.image",
  p.feed_level IS NOT NULL AS feed, p.feed_level AS "feed.level", p.feed_category AS "feed.category", p.feed_load_id AS "feed.load_id",
  l.file_name AS "feed.file_name", l.requested_at AS "feed.requested_at",
  (SELECT count(*) FROM complaint AS c WHERE c.phone = given.phone) AS complaints,
  s.phone IS NOT NULL AS score, s.level AS "score.level", s.category AS "score.category", s.score AS "score.score", s.reports AS "score.reports",
  s.independent_reports AS "score.independent_reports", s.days AS "score.days", s.states AS "score.states",
  s.first_reported_at AS "score.first_reported_at", s.last_reported_at AS "score.last_reported_at", s.rule_version AS "score.rule_version",
  s.scored_at AS "score.scored_at", p.cleared_at,
  b.phone IS NOT NULL AS branded, b.brand_handle AS "branded.brand_handle", b.display_name AS "branded.display.name",
  b.display_description AS "branded.display.description", b.display_detail AS "branded.display.detail", b.display_image AS "branded.display.image",
  b.live_from AS "branded.live_from", b.live_until AS "branded.live_until"
FROM (SELECT $1::text COLLATE "C" AS phone) AS given
LEFT JOIN phone_number AS p USING (phone)
LEFT JOIN reputation_category AS k ON k.category = p.reputation_category
LEFT JOIN feed_load AS l ON l.load_id = p.feed_load_id
LEFT JOIN complaint_score AS s USING (phone)
LEFT JOIN branded_number AS b USING (phone);
