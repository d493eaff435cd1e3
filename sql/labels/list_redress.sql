-- Purpose: the clearings of a number.
-- Parameters: $1 phone in E.164.
-- Rows: one a clearing, newest first.
SELECT redress_id, reason, cleared_by, cleared_at, level_before AS "before.level", category_before AS "before.category", source_before AS "before.source"
FROM redress
WHERE phone = $1
ORDER BY cleared_at DESC, redress_id DESC;
