-- Purpose: the rows of the branded cache in a range of phones.
-- Parameters: evaluatedAt, from, to, keys (only these phones; NULL: all) (literals: COPY takes no parameters).
-- Rows: phone, display name; ascending by phone in byte order.
COPY (
  SELECT phone, display_name
  FROM branded_number
  WHERE live_from <= :'evaluatedAt'::timestamptz
    AND (live_until IS NULL OR live_until > :'evaluatedAt'::timestamptz)
    AND phone >= :'from' AND phone < :'to'
    AND (:'keys'::text[] IS NULL OR phone = ANY (:'keys'::text[]))
  ORDER BY phone
) TO STDOUT WITH (FORMAT text, NULL '', ENCODING 'UTF8')
