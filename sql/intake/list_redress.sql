-- Purpose: how often and why a number was cleared.
-- Parameters: $1 phone in E.164.
-- Rows: one a clearing, newest first.
SELECT redress_id, reason, cleared_by, cleared_at, level_before, category_before, source_before
FROM redress
WHERE phone = $1
ORDER BY cleared_at DESC, redress_id DESC;
