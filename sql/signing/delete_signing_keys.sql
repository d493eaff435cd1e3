-- Purpose: forgets the online keys, before others take their place.
-- Parameters: none.
-- Rows: none.
DELETE FROM trust_key;
