-- Purpose: the measures of a directory load for its gates, and what a merge will change.
-- Parameters: none.
-- Rows: one: numbers, new_numbers, rows_changed.
SELECT count(*) AS numbers, count(*) FILTER (WHERE NOT listed) AS new_numbers, count(*) FILTER (WHERE differs) AS rows_changed
FROM directory_compared;
