-- Purpose: record the use of a session
-- Parameters: $1 hash of its token
-- Rows: none
UPDATE console_session SET seen_at = now() WHERE session_hash = $1
