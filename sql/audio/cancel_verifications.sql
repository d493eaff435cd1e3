-- Purpose: ends the items of a cancelled batch that have no outcome.
-- Parameters: $1 batch id, $2 reason.
-- Rows: none; the count of changed rows says how many.
UPDATE verification SET state = 'error', reason = $2, ended_at = now() WHERE batch_id = $1 AND state IN ('queued', 'performing');
