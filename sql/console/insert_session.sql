-- Purpose: open a session of a user whose password is still the compared one. Waits for a running change of the password or
--   removal of the user.
-- Parameters: $1 hash of its token, $2 user, $3 hash of the password that was compared, $4 hours for which it lasts
-- Rows: ends_at, role and owners that the user acts for (as they are now); none if the password was changed or the user removed
WITH owner AS (
  SELECT user_id, role FROM console_user WHERE user_id = $2 AND password_hash = $3
  FOR SHARE
), opened AS (
  INSERT INTO console_session (session_hash, user_id, ends_at)
  SELECT $1, user_id, now() + make_interval(hours => $4) FROM owner
  RETURNING ends_at
)
SELECT ends_at, role, ARRAY(SELECT o.owner::text FROM console_user_owner AS o WHERE o.user_id = owner.user_id ORDER BY o.owner) AS owners FROM opened, owner
