-- Purpose: removes live branded numbers of a brand.
-- Parameters: $1 brand id, $2 phones.
-- Rows: none.
DELETE FROM branded_number WHERE brand_handle = (SELECT handle FROM brand WHERE brand_id = $1) AND phone = ANY ($2);
