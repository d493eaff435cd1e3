-- Purpose: the table of computed scores, for one transaction.
-- Parameters: none.
-- Rows: none.
CREATE TEMP TABLE complaint_scored (LIKE complaint_score INCLUDING INDEXES) ON COMMIT DROP;
