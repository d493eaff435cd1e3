-- Purpose: whether the console has any user
-- Parameters: none
-- Rows: one, has_users
SELECT EXISTS (SELECT FROM console_user) AS has_users
