-- Purpose: the numbers that a brand has proven to answer, at present.
-- Parameters: $1 brand id, $2 phones or NULL for all.
-- Rows: phone, valid until.
SELECT m.phone, max(p.valid_until) AS valid_until
FROM number_proof AS p
JOIN number_proof_member AS m USING (proof_id)
WHERE p.brand_id = $1 AND p.state = 'proven' AND p.valid_until > now() AND m.left_at IS NULL AND ($2::text[] IS NULL OR m.phone = ANY ($2))
GROUP BY m.phone
ORDER BY m.phone;
