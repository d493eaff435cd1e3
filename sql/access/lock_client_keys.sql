-- Purpose: one maker of keys a client at a time, until the transaction ends.
-- Parameters: $1 client.
-- Rows: one, without meaning.
SELECT pg_advisory_xact_lock(hashtextextended('api_key ' || $1, 0));
