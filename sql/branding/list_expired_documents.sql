-- Purpose: documents whose time of retention is over: those of letters that ended before an instant, and those of requests
--   that ended before it and made no letter.
-- Parameters: $1 instant.
-- Rows: document_id.
WITH used AS (
  SELECT letter_document_id AS document_id, operation_id, finished_at FROM branding_operation WHERE letter_document_id IS NOT NULL
  UNION ALL
  SELECT numbers_document_id, operation_id, finished_at FROM branding_operation WHERE numbers_document_id IS NOT NULL
)
SELECT d.document_id
FROM document AS d
JOIN used USING (document_id)
LEFT JOIN letter AS l USING (operation_id)
WHERE d.destroyed_at IS NULL
GROUP BY d.document_id
HAVING bool_and(
  used.finished_at < $1
  AND CASE coalesce(l.state, 'none')
    WHEN 'none' THEN true
    WHEN 'expired' THEN l.valid_until < $1
    WHEN 'rejected' THEN l.decided_at < $1
    WHEN 'withdrawn' THEN l.decided_at < $1
    ELSE false
  END) IS TRUE
ORDER BY d.document_id;
