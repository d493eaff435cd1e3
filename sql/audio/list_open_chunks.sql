-- Purpose: the chunks of a batch that have an item without an outcome.
-- Parameters: $1 batch id, then one element a chunk from 0 on: $2 its first line, $3 its last one.
-- Rows: chunk, in order.
SELECT c.number - 1 AS chunk
FROM unnest($2::integer[], $3::integer[]) WITH ORDINALITY AS c (first, last, number)
CROSS JOIN LATERAL (
  SELECT FROM verification WHERE batch_id = $1 AND line BETWEEN c.first AND c.last AND state IN ('queued', 'performing') LIMIT 1
) AS open
ORDER BY c.number;
