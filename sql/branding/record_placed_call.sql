-- Purpose: records that the caller has accepted a call.
-- Parameters: $1 call id.
-- Rows: none.
UPDATE number_proof_call SET placed_at = clock_timestamp() WHERE call_id = $1;
