-- Purpose: the secrets that sign deliveries to an endpoint.
-- Parameters: $1 endpoint id.
-- Rows: one or two, the newest first.
SELECT public_id, sealed_secret, wrapped_key, master_key_id
FROM webhook_secret
WHERE endpoint_id = $1 AND (ends_at IS NULL OR ends_at > clock_timestamp())
ORDER BY secret_id DESC;
