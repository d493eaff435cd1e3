-- Purpose: ends a load with its counts, in the transaction that staged its rows: done (it was merged), held by gates, or
--   failed because too many rows were refused. Only a load that is done has changed anything else.
-- Parameters: $1 load id, $2 state, $3 rows given, $4 accepted, $5 rejected, $6 superseded, $7 changed, $8 rejects by code (json),
--   $9 labels withheld, $10 rows too old to count, $11 measures (json), $12 gates (json), $13 order of dates,
--   $14 code and $15 reason of a failure.
-- Rows: none.
UPDATE feed_load SET
  state = $2, finished_at = clock_timestamp(),
  rows_given = $3, rows_accepted = $4, rows_rejected = $5, rows_superseded = $6, rows_changed = $7, rejects_by_code = $8,
  labels_withheld = $9, rows_too_old = $10, measures = $11, gates = $12, date_form = $13, failure_code = $14, failure_reason = $15,
  merged_by = CASE WHEN $2 = 'done' THEN pg_current_xact_id() END
WHERE load_id = $1;
