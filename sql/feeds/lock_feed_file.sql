-- Purpose: serializes removal and submission of a spooled file, until the transaction ends.
-- Parameters: $1 sha256 of the file.
-- Rows: one, without use.
SELECT pg_advisory_xact_lock(hashtextextended('feed file ' || $1::text, 0));
