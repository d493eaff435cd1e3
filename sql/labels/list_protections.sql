-- Purpose: the protections, those in force first; of one number if it is given.
-- Parameters: $1 only those that match this number, or NULL; $2 true: also those that were removed.
-- Rows: one a protection.
SELECT protection_id, kind, value, reason, added_by, added_at,
  removed_at IS NOT NULL AS removed, removed_by AS "removed.by", removed_at AS "removed.at", removed_reason AS "removed.reason"
FROM protected_number
WHERE ($2::boolean OR removed_at IS NULL)
  AND ($1::text IS NULL OR CASE kind WHEN 'number' THEN value = $1 WHEN 'prefix' THEN starts_with($1, value) ELSE $1 COLLATE "C" ~ value END)
ORDER BY removed_at IS NOT NULL, kind = 'number', value, removed_at DESC;
