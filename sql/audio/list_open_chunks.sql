-- Purpose: the chunks of a batch that have an item without an outcome.
-- Parameters: $1 batch id.
-- Rows: chunk, in order.
SELECT chunk FROM verification WHERE batch_id = $1 AND state IN ('queued', 'performing') GROUP BY chunk ORDER BY chunk;
