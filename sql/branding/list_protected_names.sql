-- Purpose: the names that operators have protected, those in force first.
-- Parameters: $1 true: also those that were removed.
-- Rows: one a name.
SELECT name, category, country, common, reason, added_by, added_at, removed_by, removed_reason, removed_at
FROM protected_name
WHERE $1::boolean OR removed_at IS NULL
ORDER BY removed_at IS NOT NULL, folded, removed_at DESC;
