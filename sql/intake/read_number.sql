-- Purpose: everything that is known of one number.
-- Parameters: $1 phone in E.164.
-- Rows: one; the columns of a part that is absent are NULL.
SELECT
  p.phone IS NOT NULL AS published, coalesce(p.country, s.country) AS country,
  p.reputation_level, p.reputation_category, k.name AS reputation_category_name, p.reputation_source,
  p.display_name, p.display_description, p.display_detail, p.display_image,
  p.feed_level, p.feed_category, p.feed_load_id, l.file_name AS feed_file_name, l.requested_at AS feed_requested_at, p.cleared_at,
  (SELECT CASE WHEN e.cause <> 'before_history' THEN e.at END FROM label_event AS e
    WHERE e.phone = given.phone AND (e.level, e.category) IS DISTINCT FROM (e.level_before, e.category_before)
    ORDER BY e.event_id DESC LIMIT 1) AS label_since,
  (SELECT count(*) FROM complaint AS c WHERE c.phone = given.phone) AS complaints,
  s.phone IS NOT NULL AS is_scored, s.level AS score_level, s.category AS score_category, s.score, s.reports, s.independent_reports, s.days, s.states,
  s.first_reported_at, s.last_reported_at, s.rule_version, s.scored_at,
  b.phone IS NOT NULL AS branded, b.brand_handle, b.display_name AS brand_display_name, b.display_description AS brand_display_description,
  b.display_detail AS brand_display_detail, b.display_image AS brand_display_image, b.live_from, b.live_until
FROM (SELECT $1::text COLLATE "C" AS phone) AS given
LEFT JOIN phone_number AS p USING (phone)
LEFT JOIN reputation_category AS k ON k.category = p.reputation_category
LEFT JOIN feed_load AS l ON l.load_id = p.feed_load_id
LEFT JOIN complaint_score AS s USING (phone)
LEFT JOIN branded_number AS b USING (phone);
