-- Purpose: locks a batch until the transaction ends.
-- Parameters: $1 batch id.
-- Rows: one.
SELECT state, items FROM verification_batch WHERE batch_id = $1 FOR UPDATE;
