-- Purpose: how many verifications of a batch are in each state, for /v1/batches/{id}. Counted in an index.
-- Parameters: $1 batch id.
-- Rows: one a state that occurs.
SELECT state, count(*) AS count FROM verification WHERE batch_id = $1 GROUP BY state;
