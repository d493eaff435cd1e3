-- Purpose: locks a dispute for its decision, until the transaction ends.
-- Parameters: $1 dispute id.
-- Rows: one, or none if there is no such dispute.
SELECT phone, state FROM number_dispute WHERE dispute_id = $1 FOR UPDATE;
