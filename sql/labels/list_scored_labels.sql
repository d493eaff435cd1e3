-- Purpose: the labels of a scoring that was computed in this transaction (sql/labels/create_scored.sql).
-- Parameters: none.
-- Rows: one a number with a label, by phone.
SELECT phone, level, category FROM complaint_scored WHERE level <> 'NEUTRAL' ORDER BY phone;
