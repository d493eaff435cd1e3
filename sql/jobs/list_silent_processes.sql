-- Purpose: the processes whose heartbeat has been silent too long: frozen, or cut off from the database.
-- Parameters: $1 seconds.
-- Rows: the tag of each process, with the time of its last heartbeat.
SELECT right(application_name, 8) AS process, max(state_change)::text AS last_beat
FROM pg_stat_activity
WHERE datname = current_database() AND usename = current_user AND application_name LIKE 'caller-trust heartbeat #________'
GROUP BY application_name
HAVING max(state_change) < clock_timestamp() - make_interval(secs => $1);
