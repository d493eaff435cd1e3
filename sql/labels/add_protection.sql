-- Purpose: protects a number, or all numbers with a prefix, from labels.
-- Parameters: $1 kind (number or prefix), $2 value, $3 reason, $4 who added it.
-- Rows: one, or none if this value is protected already.
INSERT INTO protected_number (kind, value, reason, added_by)
VALUES ($1, $2, $3, $4)
ON CONFLICT (value) WHERE removed_at IS NULL DO NOTHING
RETURNING protection_id;
