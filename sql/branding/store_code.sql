-- Purpose: the hash of the code that a call is about to give out, from when on it has its time to live.
-- Parameters: $1 call id, $2 hash, $3 minutes that it lives.
-- Rows: one: expires at.
UPDATE number_proof_call SET code_hash = $2, expires_at = now() + make_interval(mins => $3) WHERE call_id = $1
RETURNING expires_at;
