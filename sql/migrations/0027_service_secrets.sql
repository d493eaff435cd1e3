-- Compatible with older workers: yes (new objects only).
-- Which secret the hashes of this database were made with, so that another one is refused instead of making keys that fail.

CREATE TABLE service_secret (
  name text COLLATE "C" PRIMARY KEY CHECK (name IN ('api-key-secret')),
  -- HMAC-SHA-256 of the name under the secret, which cannot be found from it.
  fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
  recorded_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE service_secret IS 'Fingerprints of the secrets with which hashes of this database were made.';
