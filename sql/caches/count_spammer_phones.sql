-- Purpose: rows of the spammer cache by level, as count_profile_phones.
-- Parameters: $1 phones (NULL: all).
-- Rows: range (1), level, rows.
SELECT 1 AS range, reputation_level AS level, count(*) AS rows
FROM phone_number
WHERE reputation_level <> 'NEUTRAL' AND ($1::text[] IS NULL OR phone = ANY ($1::text[]))
GROUP BY reputation_level
