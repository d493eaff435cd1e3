-- Purpose: how many items of a batch are in each state.
-- Parameters: $1 batch id.
-- Rows: one a state that occurs. All states are named, so that the index that begins with them is read.
SELECT state, count(*) AS items FROM verification WHERE batch_id = $1 AND state IN ('queued', 'performing', 'performed', 'performedWithoutScore', 'error') GROUP BY state;
