-- Purpose: an open proof for numbers of a brand, with its unplaced calls, and an event for each call.
-- Parameters: $1 brand id, $2 language, $3 actor, $4 phones that it proves, $5 phones of them that are called, $6 reason.
-- Rows: one: its id.
WITH made AS (
  INSERT INTO number_proof (brand_id, language, requested_by) VALUES ($1, $2, $3)
  RETURNING proof_id
), members AS (
  INSERT INTO number_proof_member (proof_id, phone) SELECT proof_id, unnest($4::text[]) FROM made
), calls AS (
  INSERT INTO number_proof_call (proof_id, phone) SELECT proof_id, unnest($5::text[]) FROM made
), recorded AS (
  INSERT INTO branding_event (brand_id, subject, phone, action, before, after, actor, reason)
  SELECT $1, 'number', phone, 'prove_start', state, state, $3, $6 FROM brand_number WHERE brand_id = $1 AND phone = ANY ($5) ORDER BY phone
)
SELECT proof_id FROM made;
