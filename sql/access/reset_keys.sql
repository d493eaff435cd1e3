-- Purpose: revokes every key and forgets with which secret they were made.
-- Parameters: $1 name of the secret.
-- Rows: one: the number of keys that were live.
WITH revoked AS (
  UPDATE api_key SET revoked_at = now() WHERE revoked_at IS NULL RETURNING expires_at
), forgotten AS (
  DELETE FROM service_secret WHERE name = $1
)
SELECT count(*) FILTER (WHERE expires_at IS NULL OR expires_at > now())::integer AS keys FROM revoked;
