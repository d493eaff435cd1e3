-- Purpose: the countries that have numbers, by one index lookup for each, independent of the number of rows.
-- Parameters: none.
-- Rows: country.
WITH RECURSIVE known AS (
  (SELECT country FROM phone_number WHERE country IS NOT NULL ORDER BY country LIMIT 1)
  UNION ALL
  SELECT (SELECT n.country FROM phone_number AS n WHERE n.country > known.country ORDER BY n.country LIMIT 1)
  FROM known
  WHERE known.country IS NOT NULL
)
SELECT country FROM known WHERE country IS NOT NULL;
