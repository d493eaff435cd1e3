-- Purpose: why items of a batch have no score.
-- Parameters: $1 batch id.
-- Rows: one a reason, the most frequent first.
SELECT reason, count(*) AS items FROM verification WHERE batch_id = $1 AND state IN ('performedWithoutScore', 'error') GROUP BY reason ORDER BY items DESC, reason;
