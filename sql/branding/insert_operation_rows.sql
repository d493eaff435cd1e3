-- Purpose: records the outcome of each row of a request's numbers.
-- Parameters: $1 operation id; arrays of one value a row: $2 line, $3 phone or NULL, $4 outcome, $5 reason.
-- Rows: none.
INSERT INTO branding_operation_row (operation_id, line, phone, outcome, reason)
SELECT $1, line, phone, outcome, reason
FROM unnest($2::integer[], $3::text[], $4::text[], $5::text[]) AS row (line, phone, outcome, reason);
