-- Purpose: removes an endpoint of webhooks with its secrets and deliveries.
-- Parameters: $1 name.
-- Rows: one if there was such an endpoint.
DELETE FROM webhook_endpoint WHERE name = $1 RETURNING endpoint_id;
