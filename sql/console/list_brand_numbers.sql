-- Purpose: numbers of a brand, ascending, for the console.
-- Parameters: $1 brand id, $2 state or NULL, $3 id of the number after which to begin (0: from the first), $4 how many at most.
-- Rows: number id, phone, country, state, call reason, submitted, changed and verified at, live until; none after an id of another brand.
SELECT n.number_id, n.phone, n.country, n.state, n.call_reason, n.submitted_at, n.changed_at, n.verified_at, live.live_until
FROM brand_number AS n
JOIN brand AS b USING (brand_id)
LEFT JOIN branded_number AS live ON live.phone = n.phone AND live.brand_handle = b.handle
WHERE n.brand_id = $1 AND ($2::text IS NULL OR n.state = $2)
  AND n.phone > CASE WHEN $3::bigint = 0 THEN '' ELSE (SELECT phone FROM brand_number WHERE number_id = $3 AND brand_id = $1) END
ORDER BY n.phone
LIMIT $4;
