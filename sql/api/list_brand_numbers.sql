-- Purpose: a page of the numbers of a brand, for /v1/brands/{handle}/numbers. A number is live until the last letter that names it
--   ends, as sql/branding/publish_numbers.sql has it; NULL where it is not published.
-- Parameters: $1 brand id, $2 state or NULL for all, $3 phone after which the page begins ('' for the first), $4 most rows.
-- Rows: one a number, by phone.
SELECT n.phone, n.country, n.state, n.call_reason, n.submitted_at, n.changed_at, n.verified_at,
  CASE WHEN b.state IN ('approved', 'expired') AND n.state IN ('verified', 'expired') THEN (
    SELECT max(l.valid_until)
    FROM letter_number AS c
    JOIN letter AS l ON l.letter_id = c.letter_id
    WHERE c.phone = n.phone AND l.brand_id = n.brand_id AND l.state IN ('approved', 'expiring', 'expired') AND l.valid_until > n.verified_at
  ) END AS live_until
FROM brand_number AS n
JOIN brand_overview AS b ON b.brand_id = n.brand_id
WHERE n.brand_id = $1 AND ($2::text IS NULL OR n.state = $2) AND n.phone > $3
ORDER BY n.phone
LIMIT $4;
