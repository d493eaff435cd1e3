-- Purpose: writes the decision of a dispute that was open.
-- Parameters: $1 dispute id, $2 state (cleared or upheld), $3 who decided, $4 reason, $5 id of the clearing or NULL.
-- Rows: none.
UPDATE number_dispute SET state = $2, decided_at = clock_timestamp(), decided_by = $3, decision_reason = $4, redress_id = $5
WHERE dispute_id = $1 AND state = 'open';
