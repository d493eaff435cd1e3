-- Purpose: records the number of items submitted so far.
-- Parameters: $1 batch id, $2 items.
-- Rows: none.
UPDATE verification_batch SET items = $2 WHERE batch_id = $1;
