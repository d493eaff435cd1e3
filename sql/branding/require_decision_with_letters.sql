-- Purpose: a person decides a revision whose letters were decided when the brand had other details.
-- Parameters: $1 brand id, $2 revision that the letters have gone over to.
-- Rows: none.
UPDATE brand_revision SET needs_decision = true
WHERE brand_id = $1 AND revision = $2 AND EXISTS (SELECT FROM letter AS l WHERE l.brand_id = $1 AND l.revision = $2);
