-- Purpose: whether the schema of this version exists and is readable.
-- Parameters: none.
-- Rows: one.
SELECT to_regclass('publication') IS NOT NULL AND to_regclass('api_key') IS NOT NULL AND to_regclass('brand_overview') IS NOT NULL AS migrated;
