-- Purpose: locks the pointers that an attempt may move, in one order, until the transaction ends.
-- Parameters: $1 run id, $2 generation.
-- Rows: one a publication.
SELECT p.cache, p.country
FROM publication AS p
WHERE EXISTS (SELECT FROM build AS b WHERE b.run_id = $1 AND b.generation = $2 AND b.cache = p.cache AND b.country = p.country)
ORDER BY p.cache, p.country
FOR UPDATE;
