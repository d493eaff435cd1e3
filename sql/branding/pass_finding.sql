-- Purpose: marks a waiting finding as passed.
-- Parameters: $1 letter id, $2 code, $3 message.
-- Rows: none.
UPDATE letter_finding SET severity = 'pass', message = $3 WHERE letter_id = $1 AND code = $2;
