-- Purpose: ends the pending revision of a brand that was approved before: takes it, or drops it.
-- Parameters: $1 brand id, $2 whether it is taken, $3 action, $4 actor, $5 reason, $6 operation id or NULL.
-- Rows: none.
WITH changed AS (
  UPDATE brand
  SET approved_revision = CASE WHEN $2 THEN pending_revision ELSE approved_revision END, pending_revision = NULL, changed_at = now()
  WHERE brand_id = $1 AND pending_revision IS NOT NULL
  RETURNING brand_id, state
)
INSERT INTO branding_event (brand_id, subject, action, before, after, actor, reason, operation_id)
SELECT brand_id, 'brand', $3, state, state, $4, $5, $6 FROM changed;
