-- Purpose: letters whose validity has ended at an instant, and those that have come near their end.
-- Parameters: $1 instant, $2 instant up to which an end is near, $3 brand id or NULL for all.
-- Rows: letter_id, state, whether it has ended, handle of its brand; by brand.
SELECT l.letter_id, l.brand_id, l.state, l.valid_until <= $1 AS ended, b.handle
FROM letter AS l JOIN brand AS b USING (brand_id)
WHERE ($3::bigint IS NULL OR l.brand_id = $3)
  AND ((l.state IN ('approved', 'expiring') AND l.valid_until <= $1) OR (l.state = 'approved' AND l.valid_until <= $2))
ORDER BY b.handle, l.letter_id;
