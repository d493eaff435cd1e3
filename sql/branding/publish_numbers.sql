-- Purpose: brings the live branded numbers of a brand to what its state, its numbers and its letters say. A number that has
--   expired keeps its row, whose interval has ended.
-- Parameters: $1 brand id.
-- Rows: one: published (numbers that were made or changed), withdrawn (numbers that were taken away).
WITH live AS (
  SELECT n.phone, n.country, b.handle, r.display_name,
    coalesce(n.call_reason, r.profile -> 'callReasons' ->> 0) AS description, r.profile ->> 'website' AS detail, r.profile ->> 'logo' AS image,
    n.verified_at AS live_from, CASE n.state WHEN 'verified' THEN max(l.valid_until) ELSE least(max(l.valid_until), n.ended_at) END AS live_until
  FROM brand AS b
  JOIN brand_revision AS r ON r.brand_id = b.brand_id AND r.revision = b.approved_revision
  JOIN brand_number AS n ON n.brand_id = b.brand_id AND n.state IN ('verified', 'expired')
  JOIN letter_number AS c ON c.phone = n.phone
  JOIN letter AS l ON l.letter_id = c.letter_id AND l.brand_id = b.brand_id AND l.state IN ('approved', 'expiring', 'expired')
  WHERE b.brand_id = $1 AND b.state IN ('approved', 'expired')
  GROUP BY n.phone, n.country, b.handle, r.display_name, n.call_reason, r.profile, n.verified_at, n.state, n.ended_at
  HAVING max(l.valid_until) > n.verified_at AND (n.state = 'verified' OR n.ended_at > n.verified_at)
), known AS (
  INSERT INTO phone_number (phone, country)
  SELECT phone, country FROM live ORDER BY phone
  ON CONFLICT (phone) DO NOTHING
), withdrawn AS (
  DELETE FROM branded_number
  WHERE brand_handle = (SELECT handle FROM brand WHERE brand_id = $1) AND phone NOT IN (SELECT phone FROM live)
  RETURNING 1
), published AS (
  INSERT INTO branded_number AS before
    (phone, brand_handle, display_name, display_description, display_detail, display_image, live_from, live_until)
  SELECT phone, handle, display_name, description, detail, image, live_from, live_until FROM live ORDER BY phone
  ON CONFLICT (phone) DO UPDATE SET
    brand_handle = EXCLUDED.brand_handle, display_name = EXCLUDED.display_name, display_description = EXCLUDED.display_description,
    display_detail = EXCLUDED.display_detail, display_image = EXCLUDED.display_image,
    live_from = EXCLUDED.live_from, live_until = EXCLUDED.live_until
  WHERE before IS DISTINCT FROM EXCLUDED
    -- An ended row of one brand gives way to a live one of another, never the other way round.
    AND (before.brand_handle = EXCLUDED.brand_handle OR EXCLUDED.live_until > now())
  RETURNING 1
)
SELECT (SELECT count(*) FROM published) AS published, (SELECT count(*) FROM withdrawn) AS withdrawn;
