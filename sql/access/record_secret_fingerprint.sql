-- Purpose: records with which secret the hashes of this database are made, unless that is known.
-- Parameters: $1 name of the secret, $2 its fingerprint.
-- Rows: none.
INSERT INTO service_secret (name, fingerprint) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING;
