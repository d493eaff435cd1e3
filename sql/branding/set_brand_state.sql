-- Purpose: a brand's new state with its event. An approval adopts the pending revision, a rejection or withdrawal drops it.
-- Parameters: $1 brand id, $2 new state, $3 action, $4 actor, $5 reason, $6 operation id or NULL.
-- Rows: one.
WITH before AS (
  SELECT brand_id, state FROM brand WHERE brand_id = $1
), changed AS (
  UPDATE brand AS b
  SET state = $2, changed_at = now(),
    approved_at = CASE WHEN $3::text = 'approve' THEN now() ELSE b.approved_at END,
    approved_revision = CASE WHEN $3::text = 'approve' THEN coalesce(b.pending_revision, b.approved_revision) ELSE b.approved_revision END,
    pending_revision = CASE WHEN $3::text IN ('approve', 'reject', 'withdraw') THEN NULL ELSE b.pending_revision END
  WHERE b.brand_id = $1
), recorded AS (
  INSERT INTO branding_event (brand_id, subject, action, before, after, actor, reason, operation_id)
  SELECT brand_id, 'brand', $3, state, $2, $4, $5, $6 FROM before
)
SELECT state AS before FROM before;
