-- Purpose: whether the schema of this version is there and can be read, before anything else is asked.
-- Parameters: none.
-- Rows: one.
SELECT to_regclass('publication') IS NOT NULL AND to_regclass('api_key') IS NOT NULL AND to_regclass('brand_overview') IS NOT NULL AS migrated;
