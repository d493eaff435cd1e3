-- Purpose: how many proofs of a brand are open.
-- Parameters: $1 brand id.
-- Rows: one: proofs.
SELECT count(*)::int AS proofs FROM number_proof WHERE brand_id = $1 AND state = 'open';
