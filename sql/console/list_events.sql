-- Purpose: list what was done in the console, newest first
-- Parameters: $1 only events before this one (null: from the newest), $2 only of this actor (null: of all), $3 at most this many
-- Rows: event_id, at, actor, action, object, detail, address
SELECT event_id, at, actor, action, object, detail, host(address) AS address
FROM console_event
WHERE ($1::bigint IS NULL OR event_id < $1) AND ($2::text IS NULL OR actor = $2)
ORDER BY event_id DESC
LIMIT $3
