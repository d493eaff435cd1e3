-- Purpose: waits for transactions that write or lock numbers, and blocks new ones until this one ends; readers are not blocked. So what
--   is compared stays as it was compared, and labels written before a change of the list of protected numbers are visible.
-- Parameters: none.
-- Rows: none.
LOCK TABLE phone_number IN EXCLUSIVE MODE;
