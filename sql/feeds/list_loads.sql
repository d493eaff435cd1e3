-- Purpose: loads, newest first, or one.
-- Parameters: $1 load id or NULL for all, $2 state or NULL for all, $3 only loads before this id, or NULL, $4 how many at most.
-- Rows: one a load; counts are NULL until it is done.
SELECT
  load_id, feed, file_name, file_sha256 AS sha256, file_bytes AS bytes, submitted_by, state, requested_at, started_at, finished_at,
  rows_given, rows_accepted, rows_rejected, rows_superseded, rows_changed, labels_withheld, source, options, rows_too_old, date_form, measures, gates,
  decision IS NOT NULL AS decision, decision AS "decision.kind", decided_by AS "decision.by", decided_at AS "decision.at",
  decided_reason AS "decision.reason", rejects_by_code,
  failure_code IS NOT NULL AS failure, failure_code AS "failure.code", coalesce(failure_reason, '') AS "failure.reason"
FROM feed_load
WHERE ($1::bigint IS NULL OR load_id = $1) AND ($2::text IS NULL OR state = $2) AND ($3::bigint IS NULL OR load_id < $3)
ORDER BY load_id DESC
LIMIT $4;
