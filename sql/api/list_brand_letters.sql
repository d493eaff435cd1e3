-- Purpose: letters of a brand with their findings, for /v1/brands/{handle}/letters. The decider is reduced to
--   "rules" or "person" here, so that no name leaves the database.
-- Parameters: $1 brand id, $2 newest letter id that may be listed, $3 most rows.
-- Rows: one a letter, newest first.
SELECT l.letter_id, l.state, l.submitted_at, l.rule_version, l.signed_on, l.valid_from, l.valid_until, l.decided_at,
  CASE WHEN l.decided_by IS NULL THEN NULL WHEN l.decided_by = l.rule_version THEN 'rules' ELSE 'person' END AS decided_by,
  l.decision_reason, l.format, l.pages,
  (SELECT count(*) FROM letter_number AS c WHERE c.letter_id = l.letter_id) AS numbers,
  (SELECT coalesce(json_agg(json_build_object('code', f.code, 'severity', f.severity, 'message', f.message, 'page', f.page, 'line', f.line) ORDER BY f.position), '[]')
   FROM letter_finding AS f WHERE f.letter_id = l.letter_id) AS findings
FROM letter AS l
WHERE l.brand_id = $1 AND l.letter_id <= $2
ORDER BY l.letter_id DESC
LIMIT $3;
