-- Purpose: one load with its counts.
-- Parameters: $1 load id.
-- Rows: one, or none if there is no such load.
SELECT
  load_id, feed, file_name, file_sha256, file_bytes, submitted_by, state, requested_at, started_at, finished_at,
  rows_given, rows_accepted, rows_rejected, rows_superseded, rows_changed, labels_withheld, rejects_by_code, failure_code, failure_reason,
  source, options, date_form, rows_too_old, measures, gates, decision, decided_by, decided_reason, decided_at
FROM feed_load
WHERE load_id = $1;
