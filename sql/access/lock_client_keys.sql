-- Purpose: serializes the creation of keys of a client, until the transaction ends.
-- Parameters: $1 client.
-- Rows: one, without meaning.
SELECT pg_advisory_xact_lock(hashtextextended('api_key ' || $1, 0));
