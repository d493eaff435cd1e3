-- Purpose: other brands that claim, with a letter or a name that waits, or have live, numbers of a brand that wait for a person.
-- Parameters: $1 handle.
-- Rows: handle, owner, state, numbers of both, those of them that the other one has live; most numbers first, at most 20.
SELECT b.handle, b.owner, b.state, r.numbers, r.live
FROM (
  SELECT o.brand_id, count(*) AS numbers, count(*) FILTER (WHERE o.state <> 'in_review') AS live
  FROM brand_number AS n
  CROSS JOIN LATERAL (
    SELECT brand_id, state FROM brand_number
    WHERE phone = n.phone AND brand_id <> n.brand_id AND state IN ('in_review', 'verified', 'suspended')
    OFFSET 0) AS o
  WHERE n.brand_id = (SELECT brand_id FROM brand WHERE handle = $1) AND n.state = 'in_review'
  GROUP BY o.brand_id) AS r
JOIN brand AS b USING (brand_id)
ORDER BY r.numbers DESC, b.handle
LIMIT 20;
