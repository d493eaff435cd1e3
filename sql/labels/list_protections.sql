-- Purpose: the protections, those in force first; of one number if it is given.
-- Parameters: $1 only those that match this number, or NULL; $2 true: also those that were removed.
-- Rows: one a protection.
SELECT protection_id, kind, value, reason, added_by, added_at,
  removed_at IS NOT NULL AS removed, removed_by AS "removed.by", removed_at AS "removed.at", removed_reason AS "removed.reason"
FROM protected_number
WHERE ($2::boolean OR removed_at IS NULL)
  AND ($1::text IS NULL OR $1 LIKE value || CASE kind WHEN 'prefix' THEN '%' ELSE '' END AND $1 NOT LIKE ALL (exceptions))
ORDER BY removed_at IS NOT NULL, kind = 'number', value, removed_at DESC;
