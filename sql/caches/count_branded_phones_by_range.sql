-- Purpose: rows of the branded cache in neighbouring ranges of phones, as count_profile_phones_by_range.
-- Parameters: $1 the instant at which brands must be live, $2 starts of the ranges, ascending, $3 their exclusive ends.
-- Rows: range (from 1), level (NULL: the cache has none), rows; none for a range without rows.
SELECT width_bucket(phone, $2::text[]) AS range, NULL AS level, count(*) AS rows
FROM branded_number
WHERE live_from <= $1 AND (live_until IS NULL OR live_until > $1)
  AND phone >= ($2::text[])[1] AND phone < ($3::text[])[cardinality($3::text[])]
  AND phone < ($3::text[])[width_bucket(phone, $2::text[])]
GROUP BY 1
