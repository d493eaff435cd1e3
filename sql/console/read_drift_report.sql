-- Purpose: read a drift report
-- Parameters: $1 its id
-- Rows: report_id, made_at, made_by, report; none if there is no such report
SELECT report_id, made_at, made_by, report FROM drift_report WHERE report_id = $1
