-- Purpose: rows of the spammer cache in ranges of phones, by level.
-- Parameters: $1 starts of the ranges, $2 their exclusive ends.
-- Rows: range (from 1), level, rows; none for a range without rows.
SELECT r.range::integer AS range, c.level, c.rows
FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS r (first, after, range)
CROSS JOIN LATERAL (
  SELECT n.reputation_level AS level, count(*) AS rows
  FROM phone_number AS n
  WHERE n.reputation_level <> 'NEUTRAL' AND n.phone >= r.first AND n.phone < r.after
  GROUP BY n.reputation_level
) AS c
