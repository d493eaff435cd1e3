-- Purpose: the state of a brand's number.
-- Parameters: $1 brand id, $2 phone.
-- Rows: none or one.
SELECT state FROM brand_number WHERE brand_id = $1 AND phone = $2;
