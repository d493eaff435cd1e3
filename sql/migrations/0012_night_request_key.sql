-- Compatible with older workers: yes (columns that may be NULL, with an index).
-- A night is asked for once under one idempotency key: pressed twice, or sent again after a lost answer, it is one night.

ALTER TABLE night_run
  ADD COLUMN idempotency_key text COLLATE "C" CHECK (idempotency_key ~ '^[!-~]{1,128}$'),
  -- Of what was asked: the same key with another request is refused. (The row has the instant at which the night was opened in its place.)
  ADD COLUMN request_sha256 text COLLATE "C" CHECK (request_sha256 ~ '^[0-9a-f]{64}$'),
  ADD CONSTRAINT night_run_key_has_request CHECK ((idempotency_key IS NULL) = (request_sha256 IS NULL));
CREATE UNIQUE INDEX night_run_requested_once ON night_run (requested_by, idempotency_key) WHERE idempotency_key IS NOT NULL;
