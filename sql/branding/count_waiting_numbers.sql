-- Purpose: how many numbers of an owner wait, in all of its brands, for a letter or a decision.
-- Parameters: $1 owner.
-- Rows: one: numbers.
SELECT count(*) AS numbers
FROM brand AS b
CROSS JOIN LATERAL (SELECT 1 FROM brand_number AS n WHERE n.brand_id = b.brand_id AND n.state IN ('submitted', 'in_review') OFFSET 0) AS waiting
WHERE b.owner = $1;
