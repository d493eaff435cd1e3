-- Purpose: the measures of a reputation load for its gates.
-- Parameters: $1 submitted at and $2 days after which a complaint does not count (only complaints have a time).
-- Rows: one, as measure_complaints.
WITH by_number AS MATERIALIZED (
  SELECT phone, count(*) AS rows FROM reputation_staging GROUP BY phone
)
SELECT
  (SELECT count(*) FROM by_number) AS numbers,
  (SELECT count(*) FROM by_number AS n WHERE NOT EXISTS (SELECT FROM phone_number AS p WHERE p.phone = n.phone AND p.feed_level IS NOT NULL)) AS new_numbers,
  (SELECT coalesce(sum(rows - 1), 0)::bigint FROM by_number) AS duplicates,
  0::bigint AS known_rows,
  (SELECT coalesce(max(rows), 0) FROM by_number) AS top_number_rows,
  NULL::bigint AS top_state_rows,
  NULL::bigint AS old_rows,
  NULL::bigint AS too_old_rows,
  jsonb_build_object(
    'NEUTRAL', count(*) FILTER (WHERE level = 'NEUTRAL'), 'SPAM', count(*) FILTER (WHERE level = 'SPAM'), 'FRAUD', count(*) FILTER (WHERE level = 'FRAUD')) AS levels
FROM reputation_staging
WHERE $1::timestamptz IS NOT NULL AND $2::integer IS NOT NULL;
