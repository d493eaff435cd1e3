-- Purpose: chooses every number with complaints, or with a score, for a scoring.
-- Parameters: none.
-- Rows: none.
INSERT INTO complaint_candidate SELECT phone FROM complaint UNION SELECT phone FROM complaint_score;
