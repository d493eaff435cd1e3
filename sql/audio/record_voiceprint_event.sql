-- Purpose: adds an action on a voiceprint to its audit trail.
-- Parameters: $1 voiceprint id, $2 action, $3 actor, $4 reason.
-- Rows: none.
INSERT INTO voiceprint_event (voiceprint_id, action, actor, reason) VALUES ($1, $2, $3, $4);
