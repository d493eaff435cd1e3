-- Purpose: stores the entries of a staged directory feed that differ as display info of their numbers. A new number becomes NEUTRAL.
-- Parameters: none.
-- Rows: none.
WITH changed AS MATERIALIZED (
  SELECT phone, country, display_name, display_description, display_detail, display_image, known FROM directory_compared WHERE differs
), replaced AS (
  UPDATE phone_number AS p SET
    country = n.country,
    display_name = n.display_name,
    display_description = n.display_description,
    display_detail = n.display_detail,
    display_image = n.display_image
  FROM changed AS n
  WHERE n.known AND p.phone = n.phone
)
INSERT INTO phone_number (phone, country, display_name, display_description, display_detail, display_image)
SELECT phone, country, display_name, display_description, display_detail, display_image
FROM changed
WHERE NOT known
ORDER BY phone; -- the indexes are filled from one end to the other
