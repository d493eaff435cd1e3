-- Purpose: end every session of a user. A statement of its own, after the one that locks the user: it sees the sessions of log-ins which
--   that one waited for.
-- Parameters: $1 user
-- Rows: none
DELETE FROM console_session WHERE user_id = $1
