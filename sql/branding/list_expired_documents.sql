-- Purpose: documents whose time of retention is over: those of letters that ended before an instant, and those of requests
--   that ended before it and made no letter.
-- Parameters: $1 instant.
-- Rows: document_id.
SELECT d.document_id
FROM document AS d
WHERE d.destroyed_at IS NULL
  AND EXISTS (SELECT FROM branding_operation AS o WHERE d.document_id IN (o.letter_document_id, o.numbers_document_id) AND o.finished_at < $1)
  AND NOT EXISTS (
    SELECT FROM branding_operation AS o JOIN letter AS l USING (operation_id)
    WHERE d.document_id IN (o.letter_document_id, o.numbers_document_id)
      AND NOT CASE l.state WHEN 'expired' THEN l.valid_until < $1 WHEN 'rejected' THEN l.decided_at < $1 WHEN 'withdrawn' THEN l.decided_at < $1 ELSE false END)
  AND NOT EXISTS (SELECT FROM branding_operation AS o WHERE d.document_id IN (o.letter_document_id, o.numbers_document_id) AND o.state = 'queued')
ORDER BY d.document_id;
