-- Purpose: waits for transactions that write labels, and keeps others from beginning until this one ends: what they wrote
--   before the list of protected numbers changed is then to be seen.
-- Parameters: none.
-- Rows: none.
LOCK TABLE phone_number IN SHARE ROW EXCLUSIVE MODE;
