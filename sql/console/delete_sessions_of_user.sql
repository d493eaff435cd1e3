-- Purpose: end every session of a user. Separate from the statement that locks the user, so that it sees the sessions of log-ins
--   that the lock waited for.
-- Parameters: $1 user
-- Rows: none
DELETE FROM console_session WHERE user_id = $1
