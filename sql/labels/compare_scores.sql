-- Purpose: levels and categories in complaint_scored against those of the last stored scoring.
-- Parameters: none.
-- Rows: one for each pair of results: numbers, published (those without a feed's label and without an effective clearing).
SELECT
  coalesce(s.level, 'NEUTRAL') AS level_before, s.category AS category_before, coalesce(n.level, 'NEUTRAL') AS level, n.category,
  count(*) AS numbers,
  count(*) FILTER (WHERE p.phone IS NULL OR p.reputation_source IS NULL OR p.reputation_source = 'complaints') AS published
FROM complaint_score AS s
FULL JOIN complaint_scored AS n USING (phone)
LEFT JOIN phone_number AS p USING (phone)
GROUP BY 1, 2, 3, 4
ORDER BY 1, 2, 3, 4;
