-- Purpose: the audit trail of a voiceprint, oldest first.
-- Parameters: $1 public id.
-- Rows: events.
SELECT e.event_id, e.at, e.action, e.actor, e.reason
FROM voiceprint_event AS e JOIN voiceprint AS v USING (voiceprint_id)
WHERE v.public_id = $1
ORDER BY e.event_id;
