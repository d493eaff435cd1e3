-- Purpose: the applied migrations, also of a ledger without the column `compatible`.
-- Parameters: none.
-- Rows: one a migration.
SELECT number, name, sha256, (to_jsonb(m) ->> 'compatible')::boolean AS compatible FROM schema_migration AS m ORDER BY number;
