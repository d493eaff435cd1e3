-- Purpose: deletes the refused rows of a load that is read again.
-- Parameters: $1 load id.
-- Rows: none.
DELETE FROM feed_reject WHERE load_id = $1;
