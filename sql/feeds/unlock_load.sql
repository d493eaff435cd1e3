-- Purpose: releases the lock of lock_load.
-- Parameters: $1 load id.
-- Rows: one, without use.
SELECT pg_advisory_unlock(hashtextextended('feed load ' || $1::bigint, 0));
