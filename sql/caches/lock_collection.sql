-- Purpose: locks the collection of garbage against nights that record their builds, until the transaction ends.
-- Parameters: none.
-- Rows: one, without meaning.
SELECT pg_advisory_xact_lock(hashtextextended('collection of garbage', 0));
