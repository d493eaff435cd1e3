-- Purpose: phones from all over a table whose rows are about to be read, by which the reading is divided.
-- Parameters: $1 country (NULL: the numbers with a reputation, of every country), $2 percentage of the blocks of the table.
-- Rows: one: phones, ascending in byte order.
SELECT coalesce(array_agg(phone::text ORDER BY phone), '{}') AS phones
FROM phone_number TABLESAMPLE SYSTEM ($2::real)
WHERE CASE WHEN $1::text IS NULL THEN reputation_level <> 'NEUTRAL' ELSE country = $1 END;
