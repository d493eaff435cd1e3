-- Purpose: stores the findings on a revision with its letter, and whether a person must decide.
-- Parameters: $1 brand id, $2 revision, $3 findings (JSON text), $4 whether a person must decide.
-- Rows: none.
UPDATE brand_revision SET findings = $3, needs_decision = $4 WHERE brand_id = $1 AND revision = $2;
