-- Purpose: proofs of numbers with an unplaced call.
-- Parameters: $1 proof id or NULL for all.
-- Rows: proof_id.
SELECT p.proof_id
FROM number_proof AS p
WHERE p.state = 'open' AND ($1::bigint IS NULL OR p.proof_id = $1)
  AND EXISTS (
    SELECT FROM number_proof_call AS c JOIN number_proof_member AS m USING (proof_id, phone)
    WHERE c.proof_id = p.proof_id AND c.placed_at IS NULL AND m.left_at IS NULL)
ORDER BY p.proof_id;
