-- Purpose: the measures of a reputation load for its gates, and what a merge will change: a load does not replace the label of one that
--   was submitted later.
-- Parameters: $1 load id.
-- Rows: one: numbers, new_numbers, levels, rows_changed, labels_withheld (of unchanged rows).
SELECT count(*) AS numbers, count(*) FILTER (WHERE NOT listed) AS new_numbers,
  jsonb_build_object(
    'NEUTRAL', count(*) FILTER (WHERE level = 'NEUTRAL'), 'SPAM', count(*) FILTER (WHERE level = 'SPAM'), 'FRAUD', count(*) FILTER (WHERE level = 'FRAUD')) AS levels,
  count(*) FILTER (WHERE differs AND (feed_load_id IS NULL OR feed_load_id <= $1)) AS rows_changed,
  count(*) FILTER (WHERE withheld AND NOT differs) AS labels_withheld
FROM reputation_compared;
