-- Purpose: give a user of the console another role, which holds from the next request on
-- Parameters: $1 name, $2 role
-- Rows: name; none if there is no such user
UPDATE console_user SET role = $2 WHERE name = $1 RETURNING name
