-- Purpose: one maker of disputes at a time, until the transaction ends, so that what is open is counted right.
-- Parameters: none.
-- Rows: one, without meaning.
SELECT pg_advisory_xact_lock(hashtextextended('number_dispute', 0));
