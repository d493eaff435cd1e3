-- Purpose: the ledger of applied migrations.
-- Parameters: none.
-- Rows: none.
CREATE TABLE IF NOT EXISTS schema_migration (
  number integer PRIMARY KEY,
  name text NOT NULL,
  sha256 text NOT NULL,
  -- False: versions of the service that do not know the migration must not run on it.
  compatible boolean NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
);
