-- Purpose: a page of the numbers of a brand in one state, otherwise as sql/api/list_brand_numbers.sql. The index by brand, state and
--   phone gives the order, so that a page of a rare state reads no number of another.
-- Parameters: $1 brand id, $2 phone after which the page begins ('' for the first), $3 most rows, $4 handle of the brand, $5 state.
-- Rows: one a number, by phone.
SELECT n.phone, n.country, n.state, n.call_reason, n.submitted_at, n.changed_at, n.verified_at,
  (SELECT live.live_until FROM branded_number AS live WHERE live.phone = n.phone AND live.brand_handle = $4) AS live_until
FROM brand_number AS n
WHERE (n.brand_id, n.state, n.phone) > ($1, $5, $2) AND (n.brand_id, n.state) <= ($1, $5)
ORDER BY n.brand_id, n.state, n.phone
LIMIT $3;
