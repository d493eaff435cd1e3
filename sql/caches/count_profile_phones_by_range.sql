-- Purpose: rows of one country's profile cache in neighbouring ranges of phones, by range and level. What lies between the first
--   and the last range is read once, in the order of the table: a statement a range visits each page once a range.
-- Parameters: $1 country, $2 starts of the ranges, ascending, $3 their exclusive ends.
-- Rows: range (from 1), level, rows; none for a range without rows.
SELECT width_bucket(phone, $2::text[]) AS range, reputation_level AS level, count(*) AS rows
FROM phone_number
WHERE country = $1
  AND phone >= ($2::text[])[1] AND phone < ($3::text[])[cardinality($3::text[])]
  AND phone < ($3::text[])[width_bucket(phone, $2::text[])]
GROUP BY 1, 2
