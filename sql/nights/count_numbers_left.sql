-- Purpose: numbers that left the branded cache by decision: their own, that of their brand, or the end of their letters.
-- Parameters: $1 instant after which they left.
-- Rows: one: numbers.
SELECT count(DISTINCT phone) AS numbers
FROM (
  SELECT phone FROM branding_event
  WHERE at > $1 AND subject = 'number' AND action IN ('expire', 'suspend', 'reject', 'remove')
  UNION ALL
  SELECT n.phone
  FROM branding_event AS e JOIN brand_number AS n USING (brand_id)
  WHERE e.at > $1 AND e.subject = 'brand' AND e.action IN ('suspend', 'withdraw', 'expire') AND n.state IN ('verified', 'suspended', 'expired', 'removed')
) AS left_by;
