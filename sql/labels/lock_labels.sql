-- Purpose: waits for transactions that write labels and blocks new ones until this one ends: so labels written before the
--   change of the list of protected numbers are visible.
-- Parameters: none.
-- Rows: none.
LOCK TABLE phone_number IN SHARE ROW EXCLUSIVE MODE;
