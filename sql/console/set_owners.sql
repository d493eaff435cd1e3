-- Purpose: the owners that a user of the console acts for, in place of those before
-- Parameters: $1 user id, $2 owners
-- Rows: none
WITH left_out AS (
  DELETE FROM console_user_owner WHERE user_id = $1 AND owner <> ALL ($2::text[])
)
INSERT INTO console_user_owner (user_id, owner) SELECT $1, unnest($2::text[])
ON CONFLICT DO NOTHING
