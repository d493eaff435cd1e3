-- Purpose: the audit trail of a brand, newest first.
-- Parameters: $1 brand id, $2 event id before which to begin or NULL, $3 how many at most.
-- Rows: one an event.
SELECT event_id, at, subject, letter_id, phone, action, before, after, actor, reason, operation_id
FROM branding_event
WHERE brand_id = $1 AND ($2::bigint IS NULL OR event_id < $2)
ORDER BY event_id DESC
LIMIT $3;
