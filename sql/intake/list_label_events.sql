-- Purpose: the changes of one number's published label, with the clearing that made one.
-- Parameters: $1 phone in E.164, $2 most rows.
-- Rows: one a change, newest first.
SELECT e.event_id, e.at, e.level_before, e.category_before, e.source_before, e.level, e.category, e.source, e.cause,
  e.rule_version, e.evaluated_at, e.load_id, e.redress_id, e.evidence, r.reason, r.cleared_by
FROM label_event AS e
LEFT JOIN redress AS r USING (redress_id)
WHERE e.phone = $1
ORDER BY e.event_id DESC
LIMIT $2;
