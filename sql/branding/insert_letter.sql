-- Purpose: a letter that was read, as submitted, with its event.
-- Parameters: $1 brand id, $2 revision, $3 document id, $4 operation id, $5 submitted at, $6 rule version, $7 format or NULL,
--   $8 pages or NULL, $9 signing date or NULL, $10 actor, $11 reason, $12 legal name that it was checked against,
--   $13 id of the issued form that it is or NULL.
-- Rows: one: its id.
WITH made AS (
  INSERT INTO letter (brand_id, revision, legal_name, document_id, operation_id, state, submitted_at, rule_version, format, pages, signed_on, form_id)
  VALUES ($1, $2, $12, $3, $4, 'submitted', $5, $6, $7, $8, $9, $13)
  RETURNING letter_id
), recorded AS (
  INSERT INTO branding_event (brand_id, subject, letter_id, action, after, actor, reason, operation_id)
  SELECT $1, 'letter', letter_id, 'add', 'submitted', $10, $11, $4 FROM made
)
SELECT letter_id FROM made;
