-- Purpose: a letter's new state with its event. A decision keeps who and why; an approval also from when to when it is valid.
-- Parameters: $1 letter id, $2 new state, $3 action, $4 actor, $5 reason, $6 operation id or NULL, $7 valid from or NULL,
--   $8 valid until or NULL.
-- Rows: one.
WITH before AS (
  SELECT letter_id, brand_id, state FROM letter WHERE letter_id = $1
), changed AS (
  UPDATE letter
  SET state = $2,
    decided_at = CASE WHEN $3::text IN ('approve', 'reject', 'withdraw') THEN now() ELSE decided_at END,
    decided_by = CASE WHEN $3::text IN ('approve', 'reject', 'withdraw') THEN $4 ELSE decided_by END,
    decision_reason = CASE WHEN $3::text IN ('approve', 'reject', 'withdraw') THEN $5 ELSE decision_reason END,
    valid_from = coalesce($7, valid_from), valid_until = coalesce($8, valid_until)
  WHERE letter_id = $1
), recorded AS (
  INSERT INTO branding_event (brand_id, subject, letter_id, action, before, after, actor, reason, operation_id)
  SELECT brand_id, 'letter', letter_id, $3, state, $2, $4, $5, $6 FROM before
)
SELECT state AS before FROM before;
