-- Purpose: records a clearing with the label published before.
-- Parameters: $1 phone, $2 reason, $3 who cleared it, $4 level, $5 category and $6 source before.
-- Rows: one: redress_id, cleared_at.
INSERT INTO redress (phone, reason, cleared_by, cleared_at, level_before, category_before, source_before)
VALUES ($1, $2, $3, clock_timestamp(), $4, $5, $6)
RETURNING redress_id, cleared_at;
