-- Purpose: how many items of a batch are in each state.
-- Parameters: $1 batch id.
-- Rows: one a state that occurs.
SELECT state, count(*) AS items FROM verification WHERE batch_id = $1 GROUP BY state;
