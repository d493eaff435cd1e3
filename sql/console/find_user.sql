-- Purpose: find a user of the console who logs in
-- Parameters: $1 name
-- Rows: user_id, name, role, password_hash
SELECT user_id, name, role, password_hash FROM console_user WHERE name = $1
