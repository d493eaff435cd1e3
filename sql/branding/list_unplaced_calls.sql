-- Purpose: calls of an open proof that are not recorded as placed, to numbers that have not left the brand.
-- Parameters: $1 proof id.
-- Rows: call id, phone, language, whether a code was made for it.
SELECT c.call_id, c.phone, p.language, c.code_hash IS NOT NULL AS has_code
FROM number_proof AS p
JOIN number_proof_call AS c USING (proof_id)
JOIN number_proof_member AS m USING (proof_id, phone)
WHERE p.proof_id = $1 AND p.state = 'open' AND c.placed_at IS NULL AND m.left_at IS NULL
ORDER BY c.call_id;
