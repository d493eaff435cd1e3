-- Purpose: which of some numbers a brand has already, and may have again with a new letter.
-- Parameters: $1 brand id, $2 phones.
-- Rows: phone.
SELECT phone FROM brand_number
WHERE brand_id = $1 AND phone = ANY ($2) AND state IN ('submitted', 'in_review', 'verified', 'suspended', 'expired', 'unsuccessful');
