-- Purpose: locks an endpoint of webhooks for a change.
-- Parameters: $1 name.
-- Rows: one, or none.
SELECT endpoint_id, state FROM webhook_endpoint WHERE name = $1 FOR UPDATE;
