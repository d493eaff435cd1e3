-- Purpose: rows of a request's numbers with their outcomes, in order.
-- Parameters: $1 operation id, $2 true: only refused ones, $3 line after which to begin, $4 how many at most.
-- Rows: line, phone, outcome, reason, state of the number now.
SELECT r.line, r.phone, r.outcome, r.reason, n.state
FROM branding_operation_row AS r
JOIN branding_operation AS o USING (operation_id)
LEFT JOIN brand AS b ON b.handle = o.result #>> '{brand,handle}'
LEFT JOIN brand_number AS n ON n.brand_id = b.brand_id AND n.phone = r.phone
WHERE r.operation_id = $1 AND (NOT $2 OR r.outcome NOT IN ('accepted', 'known')) AND r.line > $3
ORDER BY r.line
LIMIT $4;
