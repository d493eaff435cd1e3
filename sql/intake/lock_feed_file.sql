-- Purpose: a spooled file is not removed while a submission of the same bytes is made. Ends with the transaction.
-- Parameters: $1 sha256 of the file.
-- Rows: one, without use.
SELECT pg_advisory_xact_lock(hashtextextended('feed file ' || $1::text, 0));
