-- Purpose: note that a session is in use
-- Parameters: $1 hash of its token
-- Rows: none
UPDATE console_session SET seen_at = now() WHERE session_hash = $1
