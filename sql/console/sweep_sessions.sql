-- Purpose: delete ended sessions
-- Parameters: $1 minutes after which an idle session ends
-- Rows: none
DELETE FROM console_session WHERE ends_at <= now() OR seen_at <= now() - make_interval(mins => $1)
