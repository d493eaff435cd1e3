-- Purpose: ends the connection that holds the lock of a night, whose process was presumed dead by the queue.
-- Parameters: $1 lock class, $2 run id.
-- Rows: one a connection that was ended.
SELECT pg_terminate_backend(pid)
FROM pg_locks
WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND classid = $1::oid AND objid = $2::oid AND objsubid = 2 AND granted AND pid <> pg_backend_pid();
