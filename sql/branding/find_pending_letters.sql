-- Purpose: letters of a brand's pending revision that no one has decided yet.
-- Parameters: $1 brand id.
-- Rows: letter_id.
SELECT l.letter_id
FROM brand AS b JOIN letter AS l ON l.brand_id = b.brand_id AND l.revision = b.pending_revision
WHERE b.brand_id = $1 AND l.state IN ('submitted', 'in_review')
ORDER BY l.letter_id;
