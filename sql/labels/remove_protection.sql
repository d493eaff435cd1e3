-- Purpose: ends a protection; the row stays.
-- Parameters: $1 value, $2 reason, $3 who removed it.
-- Rows: one, or none if the value is not protected.
UPDATE protected_number SET removed_at = clock_timestamp(), removed_reason = $2, removed_by = $3
WHERE value = $1 AND kind <> 'plan' AND removed_at IS NULL
RETURNING protection_id;
