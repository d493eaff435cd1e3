-- Purpose: the connected processes of the service that hold the master key in memory.
-- Parameters: none.
-- Rows: one a kind of process: its application name without the tag.
SELECT DISTINCT regexp_replace(application_name, ' #.*$', '') AS name
FROM pg_stat_activity
WHERE datname = current_database() AND application_name ~ '^caller-trust (worker|scheduler|console|intake)\M'
ORDER BY name;
