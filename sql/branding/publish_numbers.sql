-- Purpose: updates the live branded numbers of a brand by its state, its numbers and its letters. A number that has expired
--   keeps its row, whose interval has ended. Correct rows are not written.
-- Parameters: $1 brand id.
-- Rows: one: published (inserted or changed numbers), withdrawn (removed numbers).
WITH live AS MATERIALIZED (
  SELECT n.phone, n.country, b.handle, r.display_name,
    coalesce(n.call_reason, r.profile -> 'callReasons' ->> 0) AS description, r.profile ->> 'website' AS detail, r.profile ->> 'logo' AS image,
    n.verified_at AS live_from, CASE n.state WHEN 'verified' THEN max(l.valid_until) ELSE least(max(l.valid_until), n.ended_at) END AS live_until
  FROM brand AS b
  JOIN brand_revision AS r ON r.brand_id = b.brand_id AND r.revision = b.approved_revision
  JOIN brand_number AS n ON n.brand_id = b.brand_id AND n.state IN ('verified', 'expired')
  JOIN letter_number AS c ON c.phone = n.phone
  JOIN letter AS l ON l.letter_id = c.letter_id AND l.brand_id = b.brand_id AND l.state IN ('approved', 'expiring', 'expired')
    AND (n.state = 'expired' OR l.legal_name = r.profile ->> 'legalName')
  WHERE b.brand_id = $1 AND b.state IN ('approved', 'expired')
  GROUP BY n.phone, n.country, b.handle, r.display_name, n.call_reason, r.profile, n.verified_at, n.state, n.ended_at
  HAVING max(l.valid_until) > n.verified_at AND (n.state = 'verified' OR n.ended_at > n.verified_at)
), known AS (
  INSERT INTO phone_number (phone, country)
  SELECT phone, country FROM live WHERE NOT EXISTS (SELECT FROM phone_number AS p WHERE p.phone = live.phone) ORDER BY phone
  ON CONFLICT (phone) DO NOTHING
), withdrawn AS (
  DELETE FROM branded_number AS b
  WHERE b.brand_handle = (SELECT handle FROM brand WHERE brand_id = $1) AND NOT EXISTS (SELECT FROM live WHERE live.phone = b.phone)
  RETURNING 1
), published AS (
  INSERT INTO branded_number AS before
    (phone, brand_handle, display_name, display_description, display_detail, display_image, live_from, live_until)
  SELECT phone, handle, display_name, description, detail, image, live_from, live_until
  FROM live
  WHERE NOT EXISTS (
    SELECT FROM branded_number AS b
    WHERE (b.phone, b.brand_handle, b.display_name, b.live_from, b.live_until) = (live.phone, live.handle, live.display_name, live.live_from, live.live_until)
      AND (b.display_description, b.display_detail, b.display_image) IS NOT DISTINCT FROM (live.description, live.detail, live.image))
  ORDER BY phone
  ON CONFLICT (phone) DO UPDATE SET
    brand_handle = EXCLUDED.brand_handle, display_name = EXCLUDED.display_name, display_description = EXCLUDED.display_description,
    display_detail = EXCLUDED.display_detail, display_image = EXCLUDED.display_image,
    live_from = EXCLUDED.live_from, live_until = EXCLUDED.live_until
  -- A live row replaces an ended one of another brand, never the reverse.
  WHERE before.brand_handle = EXCLUDED.brand_handle OR EXCLUDED.live_until > now()
  RETURNING 1
)
SELECT (SELECT count(*) FROM published) AS published, (SELECT count(*) FROM withdrawn) AS withdrawn;
