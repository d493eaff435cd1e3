-- Purpose: give a user of the console another password
-- Parameters: $1 name, $2 hash of the password
-- Rows: user_id; none if there is no such user
UPDATE console_user SET password_hash = $2, password_changed_at = now() WHERE name = $1
RETURNING user_id
