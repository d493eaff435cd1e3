-- Purpose: whether another owner has submitted the same file as a letter.
-- Parameters: $1 document id, $2 owner.
-- Rows: one if so.
SELECT o.operation_id
FROM document AS mine
JOIN document AS d ON d.sha256 = mine.sha256 AND d.kind = 'letter' AND d.document_id <> mine.document_id
JOIN branding_operation AS o ON o.letter_document_id = d.document_id AND o.owner <> $2
WHERE mine.document_id = $1
LIMIT 1;
