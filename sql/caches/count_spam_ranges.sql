-- Purpose: rows of the ranges at risk: all, or those of some prefixes.
-- Parameters: $1 prefixes (NULL: all).
-- Rows: range (1), level (NULL: the cache has none), rows.
SELECT 1 AS range, NULL AS level, count(*) AS rows
FROM spam_range
WHERE $1::text[] IS NULL OR prefix = ANY ($1::text[])
