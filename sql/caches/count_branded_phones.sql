-- Purpose: rows of the branded cache in ranges of phones.
-- Parameters: $1 the instant at which brands must be live, $2 starts of the ranges, $3 their exclusive ends.
-- Rows: range (from 1), level (NULL: the cache has none), rows.
SELECT r.range::integer AS range, NULL AS level, c.rows
FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS r (first, after, range)
CROSS JOIN LATERAL (
  SELECT count(*) AS rows
  FROM branded_number AS b
  WHERE b.live_from <= $1 AND (b.live_until IS NULL OR b.live_until > $1) AND b.phone >= r.first AND b.phone < r.after
) AS c
