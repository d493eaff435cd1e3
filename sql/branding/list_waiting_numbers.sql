-- Purpose: numbers of a brand that no letter in force names, ascending.
-- Parameters: $1 brand id.
-- Rows: phone.
SELECT phone FROM brand_number
WHERE brand_id = $1 AND state IN ('submitted', 'in_review', 'unsuccessful', 'expired')
ORDER BY phone;
