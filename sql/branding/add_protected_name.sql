-- Purpose: protects a name, unless it is protected already.
-- Parameters: $1 name, $2 the name as it is compared, $3 category, $4 country or NULL, $5 true for an ordinary word, $6 reason, $7 who added it.
-- Rows: one, or none if the name is protected already.
INSERT INTO protected_name (name, folded, category, country, common, reason, added_by)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (folded) WHERE removed_at IS NULL DO NOTHING
RETURNING protected_name_id;
