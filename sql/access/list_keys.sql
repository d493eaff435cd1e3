-- Purpose: all keys, also expired and revoked ones, for operators.
-- Parameters: none.
-- Rows: one a key, oldest first within a client.
SELECT key_id, client, scopes, brand_handle AS brand,
  CASE
    WHEN revoked_at IS NOT NULL THEN 'revoked'
    WHEN expires_at <= now() THEN 'expired'
    ELSE 'live'
  END AS state, created_at, expires_at, revoked_at
FROM api_key
ORDER BY client, created_at, key_id;
