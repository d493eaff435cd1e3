-- Purpose: says why the labels change that this transaction changes from now on, for the triggers that keep their history.
-- Parameters: $1 cause (JSON): cause, ruleVersion, evaluatedAt, redressId.
-- Rows: one, without meaning.
SELECT set_config('caller_trust.label_cause', $1, true);
