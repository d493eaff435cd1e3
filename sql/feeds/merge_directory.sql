-- Purpose: stores the entries of a directory feed as display info of their numbers. The last line of a number counts.
--   A new number becomes NEUTRAL. Unchanged rows are left out before the INSERT, which would lock each of them.
-- Parameters: $1 load id (only the reputation feed keeps it).
-- Rows: one: rows_superseded (staged rows that a later line overrides), rows_changed (inserted or changed),
--   labels_withheld (always 0).
WITH latest AS MATERIALIZED (
  SELECT DISTINCT ON (phone) phone, country, display_name, display_description, display_detail, display_image
  FROM directory_staging
  ORDER BY phone, line_number DESC
), merged AS (
  INSERT INTO phone_number AS known (phone, country, display_name, display_description, display_detail, display_image)
  SELECT phone, l.country, l.display_name, l.display_description, l.display_detail, l.display_image
  FROM latest AS l
  LEFT JOIN phone_number AS before USING (phone)
  WHERE $1::bigint IS NOT NULL
    AND (before.phone IS NULL
      OR (before.country, before.display_name, before.display_description, before.display_detail, before.display_image)
        IS DISTINCT FROM (l.country, l.display_name, l.display_description, l.display_detail, l.display_image))
  ORDER BY phone
  ON CONFLICT (phone) DO UPDATE SET
    country = EXCLUDED.country,
    display_name = EXCLUDED.display_name,
    display_description = EXCLUDED.display_description,
    display_detail = EXCLUDED.display_detail,
    display_image = EXCLUDED.display_image
  -- Compared again: the row may have changed since it was read.
  WHERE (known.country, known.display_name, known.display_description, known.display_detail, known.display_image)
    IS DISTINCT FROM (EXCLUDED.country, EXCLUDED.display_name, EXCLUDED.display_description, EXCLUDED.display_detail, EXCLUDED.display_image)
  RETURNING 1
)
SELECT
  (SELECT count(*) FROM directory_staging) - (SELECT count(*) FROM latest) AS rows_superseded,
  (SELECT count(*) FROM merged) AS rows_changed, 0::bigint AS labels_withheld;
