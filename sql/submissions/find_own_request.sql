-- Purpose: whether a client has asked for something through the intake.
-- Parameters: $1 client, $2 brand that its key is bound to or NULL, $3 kind, $4 id of what it became.
-- Rows: one if it has.
SELECT request_id FROM intake_request
WHERE client = $1 AND ($2::text IS NULL OR brand_handle = $2) AND kind = $3 AND object = $4
LIMIT 1;
