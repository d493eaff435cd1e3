-- Purpose: sets the cause of this transaction's further label changes, for the triggers that write their history.
-- Parameters: $1 cause (JSON): cause, ruleVersion, evaluatedAt, redressId.
-- Rows: one, without meaning.
SELECT set_config('caller_trust.label_cause', $1, true);
