-- Purpose: remove a user of the console with all sessions; the trail of what the user did stays
-- Parameters: $1 name
-- Rows: name; none if there is no such user
DELETE FROM console_user WHERE name = $1 RETURNING name
