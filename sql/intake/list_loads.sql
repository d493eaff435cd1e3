-- Purpose: loads, newest first.
-- Parameters: $1 only loads in this state, or NULL; $2 only loads before this id, or NULL; $3 how many at most.
-- Rows: one a load, as read_load.
SELECT
  load_id, feed, file_name, file_sha256, file_bytes, submitted_by, state, requested_at, started_at, finished_at,
  rows_given, rows_accepted, rows_rejected, rows_superseded, rows_changed, labels_withheld, rejects_by_code, failure_code, failure_reason,
  source, options, date_form, rows_too_old, measures, gates, decision, decided_by, decided_reason, decided_at
FROM feed_load
WHERE ($1::text IS NULL OR state = $1) AND ($2::bigint IS NULL OR load_id < $2)
ORDER BY load_id DESC
LIMIT $3;
