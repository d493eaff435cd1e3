-- Purpose: rows of the ranges at risk in ranges of prefixes.
-- Parameters: $1 starts of the ranges, $2 their exclusive ends.
-- Rows: range (from 1), level (NULL: the cache has none), rows.
SELECT r.range::integer AS range, NULL AS level, c.rows
FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS r (first, after, range)
CROSS JOIN LATERAL (SELECT count(*) AS rows FROM spam_range AS s WHERE s.prefix >= r.first AND s.prefix < r.after) AS c
