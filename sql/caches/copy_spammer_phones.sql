-- Purpose: the rows of the spammer cache.
-- Parameters: none.
-- Rows: phone, level, category; ascending by phone in byte order.
COPY (
  SELECT phone, reputation_level, reputation_category
  FROM phone_number
  WHERE reputation_level <> 'NEUTRAL'
  ORDER BY phone
) TO STDOUT WITH (FORMAT text, NULL '', ENCODING 'UTF8')
