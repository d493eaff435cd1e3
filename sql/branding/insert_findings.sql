-- Purpose: stores the findings of a letter, without the text behind them.
-- Parameters: $1 letter id; arrays of one value a finding: $2 code, $3 severity, $4 message, $5 page or NULL, $6 line or NULL.
-- Rows: none.
INSERT INTO letter_finding (letter_id, position, code, severity, message, page, line)
SELECT $1, position, code, severity, message, page, line
FROM unnest($2::text[], $3::text[], $4::text[], $5::integer[], $6::integer[]) WITH ORDINALITY AS row (code, severity, message, page, line, position);
