-- Purpose: rows of the branded cache: all, or those of some phones.
-- Parameters: $1 the instant at which brands must be live, $2 phones (NULL: all).
-- Rows: range (1), level (NULL: the cache has none), rows.
SELECT 1 AS range, NULL AS level, count(*) AS rows
FROM branded_number
WHERE live_from <= $1 AND (live_until IS NULL OR live_until > $1) AND ($2::text[] IS NULL OR phone = ANY ($2::text[]))
