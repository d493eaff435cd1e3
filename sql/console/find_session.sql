-- Purpose: find the user of a session that has neither ended nor been idle for too long
-- Parameters: $1 hash of its token, $2 minutes after which an idle session ends
-- Rows: name, role, owners that the user acts for, ends_at, seen_recently (false: its use must be recorded)
SELECT u.name, u.role, ARRAY(SELECT o.owner::text FROM console_user_owner AS o WHERE o.user_id = u.user_id ORDER BY o.owner) AS owners, s.ends_at, s.seen_at > now() - interval '1 minute' AS seen_recently
FROM console_session AS s
JOIN console_user AS u USING (user_id)
WHERE s.session_hash = $1 AND s.ends_at > now() AND s.seen_at > now() - make_interval(mins => $2)
