-- Purpose: records that nothing about a revision is left for a person to decide.
-- Parameters: $1 brand id, $2 revision.
-- Rows: none.
UPDATE brand_revision SET needs_decision = false WHERE brand_id = $1 AND revision = $2;
