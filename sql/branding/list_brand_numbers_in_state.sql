-- Purpose: a page of the numbers of a brand in one state, otherwise as sql/branding/list_brand_numbers.sql. The index by brand, state and
--   phone gives the order, so that a page of a rare state reads no number of another.
-- Parameters: $1 brand id, $2 phone after which to begin ('' for the first), $3 how many at most, $4 handle of the brand, $5 id of the number
--   after which to begin in place of the phone, or NULL, $6 state.
-- Rows: one a number, by phone; none after an id of another brand.
SELECT n.number_id, n.phone, n.country, n.state, n.call_reason, n.submitted_at, n.changed_at, n.verified_at,
  (SELECT live.live_until FROM branded_number AS live WHERE live.phone = n.phone AND live.brand_handle = $4) AS live_until
FROM brand_number AS n
WHERE (n.brand_id, n.state, n.phone) > ($1, $6, CASE WHEN $5::bigint IS NULL THEN $2 ELSE (SELECT phone FROM brand_number WHERE number_id = $5 AND brand_id = $1) END)
  AND (n.brand_id, n.state) <= ($1, $6)
ORDER BY n.brand_id, n.state, n.phone
LIMIT $3;
