-- Purpose: a page of the numbers of a brand, for /v1/brands/{handle}/numbers. The end of its live time is
--   NULL where it is not published. The range is written so that only the primary key
--   gives the order: with brand_id = $1 the planner may as well walk the index by phone, past the numbers of every other brand.
-- Parameters: $1 brand id, $2 phone after which the page begins ('' for the first), $3 most rows, $4 handle of the brand.
-- Rows: one a number, by phone.
SELECT n.phone, n.country, n.state, n.call_reason, n.submitted_at, n.changed_at, n.verified_at,
  (SELECT live.live_until FROM branded_number AS live WHERE live.phone = n.phone AND live.brand_handle = $4) AS live_until
FROM brand_number AS n
WHERE (n.brand_id, n.phone) > ($1, $2) AND n.brand_id <= $1
ORDER BY n.brand_id, n.phone
LIMIT $3;
