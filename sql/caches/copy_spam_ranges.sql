-- Purpose: the rows of the ranges at risk in a range of prefixes.
-- Parameters: from, to (literals: COPY takes no parameters).
-- Rows: prefix, risk, lift, numbers reported, since, until; ascending by prefix in byte order.
COPY (
  SELECT prefix, risk, lift, numbers_reported, to_char(since, 'YYYY-MM-DD'), to_char(until, 'YYYY-MM-DD')
  FROM spam_range
  WHERE prefix >= :'from' AND prefix < :'to'
  ORDER BY prefix
) TO STDOUT WITH (FORMAT text, NULL '', ENCODING 'UTF8')
