-- Purpose: the rows of the spammer cache in a range of phones.
-- Parameters: from, to, keys (only these phones; NULL: all) (literals: COPY takes no parameters).
-- Rows: phone, level, category; ascending by phone in byte order.
COPY (
  SELECT phone, reputation_level, reputation_category
  FROM phone_number
  WHERE reputation_level <> 'NEUTRAL' AND phone >= :'from' AND phone < :'to'
    AND (:'keys'::text[] IS NULL OR phone = ANY (:'keys'::text[]))
  ORDER BY phone
) TO STDOUT WITH (FORMAT text, NULL '', ENCODING 'UTF8')
