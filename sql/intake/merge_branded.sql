-- Purpose: makes rows live branded numbers, and makes sure that each number is known. One row a number.
-- Parameters: arrays of one value a row: $1 phone, $2 country, $3 brand handle, $4 display name, $5 description, $6 detail,
--   $7 image, $8 live from, $9 live until.
-- Rows: one: changed (branded numbers that were made or changed).
WITH given AS (
  SELECT *
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[], $9::timestamptz[])
    AS row (phone, country, brand_handle, display_name, display_description, display_detail, display_image, live_from, live_until)
), known AS (
  INSERT INTO phone_number (phone, country)
  SELECT phone, country FROM given ORDER BY phone
  ON CONFLICT (phone) DO NOTHING
), merged AS (
  INSERT INTO branded_number AS before
    (phone, brand_handle, display_name, display_description, display_detail, display_image, live_from, live_until)
  SELECT phone, brand_handle, display_name, display_description, display_detail, display_image, live_from, live_until
  FROM given
  ORDER BY phone
  ON CONFLICT (phone) DO UPDATE SET
    brand_handle = EXCLUDED.brand_handle, display_name = EXCLUDED.display_name, display_description = EXCLUDED.display_description,
    display_detail = EXCLUDED.display_detail, display_image = EXCLUDED.display_image,
    live_from = EXCLUDED.live_from, live_until = EXCLUDED.live_until
  WHERE before IS DISTINCT FROM EXCLUDED
  RETURNING 1
)
SELECT count(*) AS changed FROM merged;
