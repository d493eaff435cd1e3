-- Purpose: a new revision of a brand, pending or taken at once, with its event.
-- Parameters: $1 brand id, $2 revision, $3 profile (JSON text), $4 display name, $5 findings (JSON text), $6 whether a person
--   must decide, $7 whether it is taken at once, $8 actor, $9 reason, $10 operation id.
-- Rows: none.
WITH revised AS (
  INSERT INTO brand_revision (brand_id, revision, profile, display_name, findings, needs_decision, operation_id)
  VALUES ($1, $2, $3, $4, $5, $6, $10)
), changed AS (
  UPDATE brand
  SET changed_at = now(), last_revision = $2,
    approved_revision = CASE WHEN $7 THEN $2 ELSE approved_revision END,
    pending_revision = CASE WHEN $7 THEN pending_revision ELSE $2 END
  WHERE brand_id = $1
  RETURNING state
)
INSERT INTO branding_event (brand_id, subject, action, before, after, actor, reason, operation_id)
SELECT $1, 'brand', CASE WHEN $7 THEN 'update' ELSE 'propose_revision' END, state, state, $8, $9, $10 FROM changed;
