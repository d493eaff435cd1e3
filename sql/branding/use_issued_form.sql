-- Purpose: binds a form to the brand of its first letter.
-- Parameters: $1 form id, $2 brand id.
-- Rows: none.
UPDATE issued_form SET brand_id = $2 WHERE form_id = $1 AND brand_id IS NULL;
