-- Purpose: give a user of the console another password; every session of the old one ends
-- Parameters: $1 name, $2 hash of the password
-- Rows: name; none if there is no such user
WITH changed AS (
  UPDATE console_user SET password_hash = $2, password_changed_at = now() WHERE name = $1
  RETURNING user_id, name
), ended AS (
  DELETE FROM console_session WHERE user_id IN (SELECT user_id FROM changed)
)
SELECT name FROM changed
