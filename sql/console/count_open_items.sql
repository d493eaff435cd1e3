-- Purpose: the numbers of items of batches without an outcome.
-- Parameters: $1 batch ids.
-- Rows: one a batch that has such items.
SELECT batch_id, count(*) AS items FROM verification WHERE batch_id = ANY ($1::bigint[]) AND state IN ('queued', 'performing') GROUP BY batch_id;
