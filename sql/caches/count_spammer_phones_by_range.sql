-- Purpose: rows of the spammer cache in neighbouring ranges of phones, as count_profile_phones_by_range.
-- Parameters: $1 starts of the ranges, ascending, $2 their exclusive ends.
-- Rows: range (from 1), level, rows; none for a range without rows.
SELECT width_bucket(phone, $1::text[]) AS range, reputation_level AS level, count(*) AS rows
FROM phone_number
WHERE reputation_level <> 'NEUTRAL'
  AND phone >= ($1::text[])[1] AND phone < ($2::text[])[cardinality($2::text[])]
  AND phone < ($2::text[])[width_bucket(phone, $1::text[])]
GROUP BY 1, 2
