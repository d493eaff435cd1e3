-- Purpose: serializes the filing of disputes, until the transaction ends, so that open ones are counted correctly.
-- Parameters: none.
-- Rows: one, without meaning.
SELECT pg_advisory_xact_lock(hashtextextended('number_dispute', 0));
