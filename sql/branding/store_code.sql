-- Purpose: stores the hash of the code of a call, whose time to live starts now.
-- Parameters: $1 call id, $2 hash, $3 time to live in minutes.
-- Rows: one: expires at.
UPDATE number_proof_call SET code_hash = $2, expires_at = now() + make_interval(mins => $3) WHERE call_id = $1
RETURNING expires_at;
