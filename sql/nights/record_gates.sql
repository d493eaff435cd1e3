-- Purpose: records the gates that a build does not pass.
-- Parameters: $1 build id, $2 gates (json).
-- Rows: none.
UPDATE build SET gates = $2 WHERE build_id = $1;
