-- Purpose: transfers the letters of a revision that have not ended to the revision that replaces it.
-- Parameters: $1 brand id, $2 old revision, $3 new revision.
-- Rows: none.
UPDATE letter SET revision = $3 WHERE brand_id = $1 AND revision = $2 AND state IN ('submitted', 'in_review', 'approved', 'expiring');
