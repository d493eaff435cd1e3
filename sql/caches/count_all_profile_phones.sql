-- Purpose: what count_profile_phones gives for the range of all phones, from the table in its own order: of 5 million rows in
--   0.5 s instead of 15 s through an index.
-- Parameters: $1 country.
-- Rows: range (1), level, rows.
SELECT 1 AS range, reputation_level AS level, count(*) AS rows
FROM phone_number
WHERE country = $1
GROUP BY reputation_level
