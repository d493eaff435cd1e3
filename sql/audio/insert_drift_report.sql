-- Purpose: stores a drift report.
-- Parameters: $1 old model, $2 new model, $3 batch id, $4 by whom, $5 recordings of it, $6 the report as JSON text.
-- Rows: one: its id and when it was made.
INSERT INTO drift_report (old_model, new_model, batch_id, made_by, items, report)
VALUES ($1, $2, $3, $4, $5, $6)
RETURNING report_id, made_at;
