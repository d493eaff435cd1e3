-- Purpose: the findings of a letter in order.
-- Parameters: $1 letter id.
-- Rows: code, severity, message, page, line.
SELECT code, severity, message, page, line FROM letter_finding WHERE letter_id = $1 ORDER BY position;
