-- Purpose: removes the staged rows of numbers that a later line of the file repeats.
-- Parameters: none.
-- Rows: one: duplicates (removed rows), top_number_rows (of the most frequent number).
WITH repeated AS MATERIALIZED (
  SELECT phone, max(line_number) AS last_line, count(*) AS rows FROM feed_staging GROUP BY phone HAVING count(*) > 1
), removed AS (
  DELETE FROM feed_staging AS s USING repeated AS r WHERE s.phone = r.phone AND s.line_number < r.last_line RETURNING 1
)
SELECT (SELECT count(*) FROM removed) AS duplicates,
  coalesce((SELECT max(rows) FROM repeated), 1) AS top_number_rows;
