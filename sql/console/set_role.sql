-- Purpose: give a user of the console another role, which holds from the next request on
-- Parameters: $1 name, $2 role
-- Rows: user_id, owners that the user acts for; none if there is no such user
UPDATE console_user SET role = $2 WHERE name = $1
RETURNING user_id, ARRAY(SELECT o.owner::text FROM console_user_owner AS o WHERE o.user_id = console_user.user_id ORDER BY o.owner) AS owners
