-- Purpose: what count_spammer_phones gives for the range of all phones, from the table in its own order.
-- Parameters: none.
-- Rows: range (1), level, rows.
SELECT 1 AS range, reputation_level AS level, count(*) AS rows
FROM phone_number
WHERE reputation_level <> 'NEUTRAL'
GROUP BY reputation_level
