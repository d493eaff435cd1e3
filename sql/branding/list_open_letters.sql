-- Purpose: letters of a brand that are in force or wait for a decision.
-- Parameters: $1 brand id.
-- Rows: letter_id, state.
SELECT letter_id, state FROM letter
WHERE brand_id = $1 AND state IN ('submitted', 'in_review', 'approved', 'expiring')
ORDER BY letter_id;
