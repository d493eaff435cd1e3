-- Purpose: locks a load for one worker. Held by the session, so that it ends with a crashed worker.
-- Parameters: $1 load id.
-- Rows: one: locked.
SELECT pg_try_advisory_lock(hashtextextended('feed load ' || $1::bigint, 0)) AS locked;
