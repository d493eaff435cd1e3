-- Purpose: each staged number of a directory feed beside what is stored, and whether that would change. Dropped with the staging table.
-- Parameters: none.
-- Rows: none.
CREATE TEMP VIEW directory_compared AS
SELECT s.*, p.phone IS NOT NULL AS known, p.display_name IS NOT NULL AS listed,
  p.phone IS NULL
    OR (p.country, p.display_name, p.display_description, p.display_detail, p.display_image)
      IS DISTINCT FROM (s.country, s.display_name, s.display_description, s.display_detail, s.display_image) AS differs
FROM feed_staging AS s LEFT JOIN phone_number AS p USING (phone);
