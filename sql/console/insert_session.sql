-- Purpose: open a session
-- Parameters: $1 hash of its token, $2 user, $3 hours for which it lasts
-- Rows: ends_at
INSERT INTO console_session (session_hash, user_id, ends_at) VALUES ($1, $2, now() + make_interval(hours => $3))
RETURNING ends_at
