-- Purpose: the letters that wait for a person before and after a letter.
-- Parameters: $1 letter id.
-- Rows: one: the ids, NULL where none waits.
SELECT max(letter_id) FILTER (WHERE letter_id < $1) AS previous, min(letter_id) FILTER (WHERE letter_id > $1) AS next
FROM letter
WHERE state IN ('submitted', 'in_review');
