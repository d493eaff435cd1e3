-- Purpose: the applied migrations.
-- Parameters: none.
-- Rows: one a migration.
SELECT number, name, sha256, compatible FROM schema_migration ORDER BY number;
