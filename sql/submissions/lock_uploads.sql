-- Purpose: serializes the opening of uploads, until the transaction ends, so that they are counted correctly.
-- Parameters: none.
-- Rows: one, without meaning.
SELECT pg_advisory_xact_lock(hashtextextended('upload', 0));
