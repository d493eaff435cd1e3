-- Purpose: marks a load as done, in the transaction that did it.
-- Parameters: $1 load id, $2 rows given, $3 accepted, $4 rejected, $5 superseded, $6 changed, $7 rejects by code (json),
--   $8 labels withheld.
-- Rows: none.
UPDATE feed_load SET
  state = 'done', finished_at = clock_timestamp(),
  rows_given = $2, rows_accepted = $3, rows_rejected = $4, rows_superseded = $5, rows_changed = $6, rejects_by_code = $7,
  labels_withheld = $8, merged_by = pg_current_xact_id()
WHERE load_id = $1;
