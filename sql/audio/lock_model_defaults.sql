-- Purpose: locks the setting of defaults, but not their reading, until the transaction ends.
-- Parameters: none.
-- Rows: none.
LOCK TABLE model_default IN SHARE ROW EXCLUSIVE MODE;
