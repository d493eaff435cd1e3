-- Purpose: the rows of one country's profile cache in a range of phones. A live brand's display info replaces the directory's
--   as a whole.
-- Parameters: country, evaluatedAt, from (first phone or its beginning), to (what follows the last), keys (only these phones; NULL:
--   all) (literals: COPY takes no parameters).
-- Rows: phone, level, category, display name, description, detail, image; ascending by phone in byte order.
COPY (
  SELECT
    n.phone, n.reputation_level, n.reputation_category,
    CASE WHEN b.phone IS NULL THEN n.display_name ELSE b.display_name END,
    CASE WHEN b.phone IS NULL THEN n.display_description ELSE b.display_description END,
    CASE WHEN b.phone IS NULL THEN n.display_detail ELSE b.display_detail END,
    CASE WHEN b.phone IS NULL THEN n.display_image ELSE b.display_image END
  FROM phone_number AS n
  LEFT JOIN branded_number AS b
    ON b.phone = n.phone
    AND b.live_from <= :'evaluatedAt'::timestamptz
    AND (b.live_until IS NULL OR b.live_until > :'evaluatedAt'::timestamptz)
    AND b.phone >= :'from' AND b.phone < :'to'
  WHERE n.country = :'country' AND n.phone >= :'from' AND n.phone < :'to'
    AND (:'keys'::text[] IS NULL OR n.phone = ANY (:'keys'::text[]))
  ORDER BY n.phone
) TO STDOUT WITH (FORMAT text, NULL '', ENCODING 'UTF8')
