-- Purpose: counts an attempt to enter the code of a brand's number.
-- Parameters: $1 brand id, $2 phone, $3 attempts at most.
-- Rows: none or one: proof id, call id, hash of the code, tries with this one, whether it was confirmed before.
UPDATE number_proof_call AS c
SET tries = c.tries + CASE WHEN c.confirmed_at IS NULL THEN 1 ELSE 0 END
FROM number_proof AS p
WHERE c.proof_id = p.proof_id AND p.brand_id = $1 AND p.state = 'open' AND c.phone = $2 AND c.code_hash IS NOT NULL AND (c.tries < $3 OR c.confirmed_at IS NOT NULL)
RETURNING c.proof_id, c.call_id, c.code_hash, c.tries, c.confirmed_at IS NOT NULL AS is_confirmed;
