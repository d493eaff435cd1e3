-- Purpose: numbers of a brand, ascending.
-- Parameters: $1 brand id, $2 state or NULL, $3 phone after which to begin or '', $4 how many at most.
-- Rows: phone, country, state, call reason, submitted, changed and verified at, live until.
SELECT n.phone, n.country, n.state, n.call_reason, n.submitted_at, n.changed_at, n.verified_at, live.live_until
FROM brand_number AS n
JOIN brand AS b USING (brand_id)
LEFT JOIN branded_number AS live ON live.phone = n.phone AND live.brand_handle = b.handle
WHERE n.brand_id = $1 AND ($2::text IS NULL OR n.state = $2) AND n.phone > $3
ORDER BY n.phone
LIMIT $4;
