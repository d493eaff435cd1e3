-- Purpose: list drift reports without their lists, newest first
-- Parameters: $1 only those before this one (null: from the newest), $2 a model that is the old or the new one (null: of all), $3 at most so many
-- Rows: report_id, old_model, new_model, batch, made_at, made_by, counts
SELECT d.report_id, d.old_model, d.new_model, b.public_id AS batch, d.made_at, d.made_by, d.report -> 'counts' AS counts
FROM drift_report AS d
JOIN verification_batch AS b USING (batch_id)
WHERE ($1::bigint IS NULL OR d.report_id < $1) AND ($2::text IS NULL OR $2 IN (d.old_model, d.new_model))
ORDER BY d.report_id DESC
LIMIT $3
