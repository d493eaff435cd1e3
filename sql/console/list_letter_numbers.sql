-- Purpose: numbers that were requested with a letter, in the order of the request.
-- Parameters: $1 letter id, $2 line after which to begin, $3 true: only those that the letter does not authorize,
--   $4 how many at most.
-- Rows: line, phone, whether the letter authorizes it, state of the number now.
SELECT r.line, r.phone, c.phone IS NOT NULL AS authorized, n.state
FROM letter AS l
JOIN branding_operation_row AS r USING (operation_id)
LEFT JOIN letter_number AS c ON c.letter_id = l.letter_id AND c.phone = r.phone
LEFT JOIN brand_number AS n ON n.brand_id = l.brand_id AND n.phone = r.phone
WHERE l.letter_id = $1 AND r.outcome IN ('accepted', 'known') AND r.line > $2 AND (NOT $3 OR c.phone IS NULL)
ORDER BY r.line
LIMIT $4;
