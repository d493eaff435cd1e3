-- Purpose: writes the live branded numbers of a brand by its state, its numbers and its letters. A number that has expired keeps its row,
--   whose interval has ended. A call reason of a
--   number is shown while it is one of the approved ones of the brand. Correct rows are not written.
-- Parameters: $1 brand id.
-- Rows: phones whose rows are to be withdrawn.
-- The sets are united and grouped, never joined, as in sql/branding/list_number_standings.sql.
WITH shown AS MATERIALIZED (
  SELECT b.handle, r.display_name, r.profile -> 'callReasons' AS call_reasons,
    r.profile -> 'callReasons' ->> 0 AS description, r.profile ->> 'website' AS detail,
    r.profile ->> 'logo' AS image, r.profile ->> 'legalName' AS legal_name
  FROM brand AS b
  JOIN brand_revision AS r ON r.brand_id = b.brand_id AND r.revision = b.approved_revision
  WHERE b.brand_id = $1 AND b.state IN ('approved', 'expired')
), number AS (
  SELECT phone, max(country) AS country, max(call_reason) AS call_reason, max(state) AS state, max(verified_at) AS verified_at,
    max(ended_at) AS ended_at, max(valid_until) AS valid_until, max(valid_until) FILTER (WHERE is_of_company) AS valid_until_of_company
  FROM (
    SELECT n.phone, n.country, n.call_reason, n.state, n.verified_at, n.ended_at, NULL::timestamptz AS valid_until, false AS is_of_company
    FROM brand_number AS n
    WHERE n.brand_id = $1 AND n.state IN ('verified', 'expired')
    UNION ALL
    SELECT c.phone, NULL, NULL, NULL, NULL, NULL, l.valid_until, l.legal_name = (SELECT legal_name FROM shown)
    FROM letter AS l
    CROSS JOIN LATERAL (SELECT phone FROM letter_number WHERE letter_id = l.letter_id OFFSET 0) AS c
    WHERE l.brand_id = $1 AND l.state IN ('approved', 'expiring', 'expired')
  ) AS part
  GROUP BY phone
  HAVING count(state) > 0
), live AS (
  SELECT n.phone, n.country, s.display_name, CASE WHEN s.call_reasons ? n.call_reason THEN n.call_reason ELSE s.description END AS description, s.detail, s.image,
    n.verified_at AS live_from, CASE n.state WHEN 'verified' THEN n.valid_until_of_company ELSE least(n.valid_until, n.ended_at) END AS live_until
  FROM number AS n
  CROSS JOIN shown AS s
  WHERE CASE n.state WHEN 'verified' THEN n.valid_until_of_company ELSE least(n.valid_until, n.ended_at) END > n.verified_at
), difference AS MATERIALIZED (
  SELECT phone, display_name, description, detail, image, live_from, live_until, bool_or(is_live) AS is_live, max(country) AS country
  FROM (
    SELECT phone, display_name, description, detail, image, live_from, live_until, true AS is_live, country FROM live
    UNION ALL
    SELECT phone, display_name, display_description, display_detail, display_image, live_from, live_until, false, NULL
    FROM branded_number
    WHERE brand_handle = (SELECT handle FROM brand WHERE brand_id = $1)
  ) AS row
  GROUP BY phone, display_name, description, detail, image, live_from, live_until
  HAVING count(*) = 1
), known AS (
  INSERT INTO phone_number (phone, country)
  SELECT phone, country FROM difference WHERE is_live ORDER BY phone
  ON CONFLICT (phone) DO NOTHING
), published AS (
  INSERT INTO branded_number AS before
    (phone, brand_handle, display_name, display_description, display_detail, display_image, live_from, live_until)
  SELECT phone, (SELECT handle FROM shown), display_name, description, detail, image, live_from, live_until
  FROM difference
  WHERE is_live
  ORDER BY phone
  ON CONFLICT (phone) DO UPDATE SET
    brand_handle = EXCLUDED.brand_handle, display_name = EXCLUDED.display_name, display_description = EXCLUDED.display_description,
    display_detail = EXCLUDED.display_detail, display_image = EXCLUDED.display_image,
    live_from = EXCLUDED.live_from, live_until = EXCLUDED.live_until
  -- A live row replaces an ended one of another brand, never the reverse.
  WHERE before.brand_handle = EXCLUDED.brand_handle OR EXCLUDED.live_until > now()
)
SELECT phone FROM difference GROUP BY phone HAVING NOT bool_or(is_live);
