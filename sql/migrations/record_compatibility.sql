-- Purpose: records what the migrations of this version say about older versions, where an earlier version recorded nothing.
-- Parameters: $1 numbers, $2 whether each is compatible.
-- Rows: none.
UPDATE schema_migration AS m SET compatible = given.compatible
FROM unnest($1::integer[], $2::boolean[]) AS given (number, compatible)
WHERE m.number = given.number AND m.compatible IS NULL;
