-- Purpose: open a session of a user whose password is still the one that was compared. A change of the password, or the removal of the
--   user, that is under way is waited for.
-- Parameters: $1 hash of its token, $2 user, $3 hash of the password that was compared, $4 hours for which it lasts
-- Rows: ends_at, role and owners that the user acts for (as they are now); none if the password is another one by now, or the user is gone
WITH owner AS (
  SELECT user_id, role FROM console_user WHERE user_id = $2 AND password_hash = $3
  FOR SHARE
), opened AS (
  INSERT INTO console_session (session_hash, user_id, ends_at)
  SELECT $1, user_id, now() + make_interval(hours => $4) FROM owner
  RETURNING ends_at
)
SELECT ends_at, role, ARRAY(SELECT o.owner::text FROM console_user_owner AS o WHERE o.user_id = owner.user_id ORDER BY o.owner) AS owners FROM opened, owner
