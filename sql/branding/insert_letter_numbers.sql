-- Purpose: numbers that a letter authorizes.
-- Parameters: $1 letter id, $2 phones.
-- Rows: none.
INSERT INTO letter_number (letter_id, phone)
SELECT $1, phone FROM unnest($2::text[]) AS row (phone)
ON CONFLICT DO NOTHING;
