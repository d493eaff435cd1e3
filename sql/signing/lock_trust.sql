-- Purpose: lets one transaction at a time sign; the others wait for its end.
-- Parameters: none.
-- Rows: one, the revision.
SELECT revision FROM trust_state FOR UPDATE;
