-- Purpose: a letter with its brand's handle.
-- Parameters: $1 letter id.
-- Rows: none or one.
SELECT l.letter_id, l.brand_id, l.document_id, l.state, l.signed_on, b.handle
FROM letter AS l JOIN brand AS b USING (brand_id)
WHERE l.letter_id = $1;
