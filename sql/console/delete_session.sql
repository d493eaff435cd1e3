-- Purpose: end a session
-- Parameters: $1 hash of its token
-- Rows: none
DELETE FROM console_session WHERE session_hash = $1
