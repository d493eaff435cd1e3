-- Purpose: a page of the numbers of a brand. The end of its live time is NULL where it is not published. The range is written so that only the
--   primary key gives the order: with brand_id = $1, the planner may scan the index by phone through the numbers of all other brands.
-- Parameters: $1 brand id, $2 phone after which to begin ('' for the first), $3 how many at most, $4 handle of the brand, $5 id of the number
--   after which to begin in place of the phone, or NULL.
-- Rows: one a number, by phone; none after an id of another brand.
SELECT n.number_id, n.phone, n.country, n.state, n.call_reason, n.submitted_at, n.changed_at, n.verified_at,
  (SELECT live.live_until FROM branded_number AS live WHERE live.phone = n.phone AND live.brand_handle = $4) AS live_until
FROM brand_number AS n
WHERE (n.brand_id, n.phone) > ($1, CASE WHEN $5::bigint IS NULL THEN $2 ELSE (SELECT phone FROM brand_number WHERE number_id = $5 AND brand_id = $1) END)
  AND n.brand_id <= $1
ORDER BY n.brand_id, n.phone
LIMIT $3;
