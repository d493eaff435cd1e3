-- Purpose: the tables of the numbers to be scored and of their computed scores, for one transaction.
-- Parameters: none.
-- Rows: none.
CREATE TEMP TABLE complaint_candidate (phone e164 NOT NULL) ON COMMIT DROP;
CREATE TEMP TABLE complaint_scored (LIKE complaint_score INCLUDING INDEXES) ON COMMIT DROP;
