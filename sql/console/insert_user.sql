-- Purpose: add a user of the console
-- Parameters: $1 name, $2 role, $3 hash of the password
-- Rows: user_id; none if the name is taken
INSERT INTO console_user (name, role, password_hash) VALUES ($1, $2, $3)
ON CONFLICT (name) DO NOTHING
RETURNING user_id
