-- Purpose: makes an endpoint of webhooks.
-- Parameters: $1 name, $2 address, $3 handle of a brand or NULL, $4 types of events and groups of them, $5 who makes it.
-- Rows: one with its id, unless the name is taken.
INSERT INTO webhook_endpoint (name, url, brand_id, event_types, created_by)
VALUES ($1, $2, (SELECT brand_id FROM brand WHERE handle = $3), $4, $5)
ON CONFLICT (name) DO NOTHING
RETURNING endpoint_id;
