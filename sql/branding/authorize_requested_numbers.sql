-- Purpose: authorizes all numbers that were requested with a letter, which a person confirms by approving it.
-- Parameters: $1 letter id.
-- Rows: none.
INSERT INTO letter_number (letter_id, phone)
SELECT DISTINCT l.letter_id, r.phone
FROM letter AS l
JOIN branding_operation_row AS r USING (operation_id)
WHERE l.letter_id = $1 AND r.outcome IN ('accepted', 'known')
ON CONFLICT DO NOTHING;
