-- Purpose: ends the protection of a name; the row stays.
-- Parameters: $1 the name as it is compared, $2 reason, $3 who removed it.
-- Rows: one, or none if the name is not protected.
UPDATE protected_name SET removed_at = clock_timestamp(), removed_reason = $2, removed_by = $3
WHERE folded = $1 AND removed_at IS NULL
RETURNING protected_name_id;
