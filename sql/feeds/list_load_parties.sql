-- Purpose: who submitted a load.
-- Parameters: $1 load id.
-- Rows: one (actor, part load), or none if there is no such load.
SELECT submitted_by AS actor, 'load' AS part FROM feed_load WHERE load_id = $1;
