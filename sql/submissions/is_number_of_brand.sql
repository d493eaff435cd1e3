-- Purpose: whether a brand of an owner holds a number.
-- Parameters: $1 phone in E.164, $2 handle, $3 owner.
-- Rows: one if it does.
SELECT n.phone
FROM brand_number AS n
JOIN brand AS b USING (brand_id)
WHERE n.phone = $1 AND n.ended_at IS NULL AND b.handle = $2 AND b.owner = $3
LIMIT 1;
