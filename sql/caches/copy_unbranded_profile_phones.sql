-- Purpose: what copy_profile_phones gives in a range of phones without a live brand, in two thirds of its time.
-- Parameters: country, from (first phone or its beginning), to (what follows the last), keys (only these phones; NULL: all)
--   (literals: COPY takes no parameters).
-- Rows: phone, level, category, display name, description, detail, image; ascending by phone in byte order.
COPY (
  SELECT
    phone, reputation_level, reputation_category,
    display_name, display_description, display_detail, display_image
  FROM phone_number
  WHERE country = :'country' AND phone >= :'from' AND phone < :'to'
    AND (:'keys'::text[] IS NULL OR phone = ANY (:'keys'::text[]))
  ORDER BY phone
) TO STDOUT WITH (FORMAT text, NULL '', ENCODING 'UTF8')
