-- Purpose: list the users of the console by name, with how many sessions each has open
-- Parameters: none
-- Rows: name, role, owners that the user acts for, created_at, password_changed_at, sessions, seen_at (null: never, or all sessions have ended)
SELECT u.name, u.role, ARRAY(SELECT o.owner::text FROM console_user_owner AS o WHERE o.user_id = u.user_id ORDER BY o.owner) AS owners, u.created_at, u.password_changed_at, count(s.session_hash)::int AS sessions, max(s.seen_at) AS seen_at
FROM console_user AS u
LEFT JOIN console_session AS s ON s.user_id = u.user_id AND s.ends_at > now()
GROUP BY u.user_id
ORDER BY u.name
