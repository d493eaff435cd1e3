-- Purpose: with which secret the hashes of this database were made.
-- Parameters: $1 name of the secret.
-- Rows: one, or none before the first use.
SELECT fingerprint FROM service_secret WHERE name = $1;
