-- Purpose: ends the database sessions of a process, and with them its transactions and locks.
-- Parameters: $1 tag of the process.
-- Rows: one: the number of sessions.
SELECT count(pg_terminate_backend(pid))::integer AS sessions
FROM pg_stat_activity
WHERE datname = current_database() AND usename = current_user AND application_name LIKE 'caller-trust % #' || $1;
