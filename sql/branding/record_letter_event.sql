-- Purpose: an event of a letter that does not change its state.
-- Parameters: $1 letter id, $2 action, $3 actor, $4 reason.
-- Rows: none.
INSERT INTO branding_event (brand_id, subject, letter_id, action, before, after, actor, reason)
SELECT brand_id, 'letter', letter_id, $2, state, state, $3, $4 FROM letter WHERE letter_id = $1;
