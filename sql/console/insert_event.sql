-- Purpose: record what was done in the console
-- Parameters: $1 who, $2 action, $3 what it was done to (null: nothing), $4 details as JSON, $5 address (null: not known)
-- Rows: none
INSERT INTO console_event (actor, action, object, detail, address) VALUES ($1, $2, $3, $4, $5)
