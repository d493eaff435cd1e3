-- Purpose: the measures of a directory load for its gates.
-- Parameters: $1 submitted at and $2 days after which a complaint does not count (only complaints have a time).
-- Rows: one, as measure_complaints.
WITH by_number AS MATERIALIZED (
  SELECT phone, count(*) AS rows FROM directory_staging GROUP BY phone
)
SELECT
  count(*) AS numbers,
  count(*) FILTER (WHERE NOT EXISTS (SELECT FROM phone_number AS p WHERE p.phone = n.phone AND p.display_name IS NOT NULL)) AS new_numbers,
  coalesce(sum(rows - 1), 0)::bigint AS duplicates,
  0::bigint AS known_rows,
  coalesce(max(rows), 0) AS top_number_rows,
  NULL::bigint AS top_state_rows,
  NULL::bigint AS old_rows,
  NULL::bigint AS too_old_rows,
  NULL::jsonb AS levels
FROM by_number AS n
WHERE $1::timestamptz IS NOT NULL AND $2::integer IS NOT NULL;
