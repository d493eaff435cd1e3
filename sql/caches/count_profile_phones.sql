-- Purpose: rows of one country's profile cache by level: all, or those of some phones, which the planner reads by bitmap or in the
--   order of the table, whichever costs less.
-- Parameters: $1 country, $2 phones (NULL: all).
-- Rows: range (1), level, rows.
SELECT 1 AS range, reputation_level AS level, count(*) AS rows
FROM phone_number
WHERE country = $1 AND ($2::text[] IS NULL OR phone = ANY ($2::text[]))
GROUP BY reputation_level
