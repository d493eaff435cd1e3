-- Purpose: rows of the ranges at risk in neighbouring ranges of prefixes, as count_profile_phones_by_range.
-- Parameters: $1 starts of the ranges, ascending, $2 their exclusive ends.
-- Rows: range (from 1), level (NULL: the cache has none), rows; none for a range without rows.
SELECT width_bucket(prefix, $1::text[]) AS range, NULL AS level, count(*) AS rows
FROM spam_range
WHERE prefix >= ($1::text[])[1] AND prefix < ($2::text[])[cardinality($2::text[])]
  AND prefix < ($2::text[])[width_bucket(prefix, $1::text[])]
GROUP BY 1
