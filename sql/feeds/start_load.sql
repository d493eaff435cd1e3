-- Purpose: marks a load as running, before its transaction, so that others see it.
-- Parameters: $1 load id.
-- Rows: none.
UPDATE feed_load SET state = 'running', started_at = clock_timestamp() WHERE load_id = $1 AND state IN ('queued', 'running');
