-- Purpose: refused rows of one load, in the order of the file.
-- Parameters: $1 load id, $2 only lines after this one, $3 how many at most.
-- Rows: one a refused row.
SELECT line_number AS line, code, reason, excerpt
FROM feed_reject
WHERE load_id = $1 AND line_number > $2
ORDER BY line_number
LIMIT $3;
