-- Purpose: locks a taken entry of the drop folder until the transaction ends, if it is free.
-- Parameters: $1 id of the taken file.
-- Rows: one: whether the lock was free.
SELECT pg_try_advisory_xact_lock(hashtextextended('caller-trust drop ' || $1, 0)) AS taken;
