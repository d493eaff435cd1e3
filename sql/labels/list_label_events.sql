-- Purpose: the changes of a number's published label, with their clearings.
-- Parameters: $1 phone in E.164, $2 most rows.
-- Rows: one a change, newest first.
SELECT e.event_id, e.at, e.level_before AS "from.level", e.category_before AS "from.category", e.source_before AS "from.source",
  e.level AS "to.level", e.category AS "to.category", e.source AS "to.source", e.cause, e.rule_version, e.evaluated_at, e.load_id, e.evidence,
  r.redress_id IS NOT NULL AS redress, r.redress_id AS "redress.redress_id", r.reason AS "redress.reason", r.cleared_by AS "redress.by"
FROM label_event AS e
LEFT JOIN redress AS r USING (redress_id)
WHERE e.phone = $1
ORDER BY e.event_id DESC
LIMIT $2;
