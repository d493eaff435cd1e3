-- Purpose: the number of live keys of a client.
-- Parameters: $1 client.
-- Rows: one.
SELECT count(*) AS live
FROM api_key
WHERE client = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now());
