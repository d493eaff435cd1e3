-- Purpose: whether something was signed since the last poll.
-- Parameters: none.
-- Rows: one, the revision.
SELECT revision FROM trust_state;
