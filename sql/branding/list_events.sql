-- Purpose: the audit trail of a brand, oldest first.
-- Parameters: $1 brand id, $2 event id after which to begin, $3 how many at most.
-- Rows: one an event.
SELECT event_id, at, subject, letter_id, phone, action, before, after, actor, reason, operation_id
FROM branding_event
WHERE brand_id = $1 AND event_id > $2
ORDER BY event_id
LIMIT $3;
