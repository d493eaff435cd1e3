-- Purpose: records with which secret the live keys of this database were made, if they are older than that record.
-- Parameters: $1 name of the secret, $2 its fingerprint.
-- Rows: none.
INSERT INTO service_secret (name, fingerprint)
SELECT $1, $2 WHERE EXISTS (SELECT FROM api_key WHERE revoked_at IS NULL)
ON CONFLICT (name) DO NOTHING;
