-- Purpose: locks a brand until the transaction ends. What is read of it, is read afterwards: a statement that waits for the lock would
--   return what it had found before.
-- Parameters: $1 handle.
-- Rows: none or one.
SELECT brand_id FROM brand WHERE handle = $1 FOR UPDATE;
