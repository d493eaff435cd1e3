-- Purpose: the rule version by which complaints label numbers.
-- Parameters: none.
-- Rows: one.
SELECT version, moved_by, reason, moved_at FROM scoring_rule ORDER BY scoring_rule_id DESC LIMIT 1;
