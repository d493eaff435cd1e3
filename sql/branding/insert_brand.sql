-- Purpose: makes a brand with its first revision, as a draft, with its event.
-- Parameters: $1 handle, $2 owner, $3 profile (JSON text), $4 display name, $5 findings (JSON text), $6 whether a person must
--   decide, $7 actor, $8 reason, $9 operation id.
-- Rows: one with the brand's id if the handle was free.
WITH made AS (
  INSERT INTO brand (handle, owner, state, pending_revision) VALUES ($1, $2, 'draft', 1)
  ON CONFLICT (handle) DO NOTHING
  RETURNING brand_id
), revised AS (
  INSERT INTO brand_revision (brand_id, revision, profile, display_name, findings, needs_decision, operation_id)
  SELECT brand_id, 1, $3, $4, $5, $6, $9 FROM made
), recorded AS (
  INSERT INTO branding_event (brand_id, subject, action, after, actor, reason, operation_id)
  SELECT brand_id, 'brand', 'add', 'draft', $7, $8, $9 FROM made
)
SELECT brand_id FROM made;
