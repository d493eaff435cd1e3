-- Purpose: puts a rule version in force from the next night on.
-- Parameters: $1 version, $2 by whom, $3 reason.
-- Rows: none.
INSERT INTO scoring_rule (version, moved_by, reason) VALUES ($1, $2, $3);
