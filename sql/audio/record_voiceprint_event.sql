-- Purpose: enters in the audit trail what was done with a voiceprint.
-- Parameters: $1 voiceprint id, $2 action, $3 actor, $4 reason.
-- Rows: none.
INSERT INTO voiceprint_event (voiceprint_id, action, actor, reason) VALUES ($1, $2, $3, $4);
