-- Purpose: the labels that a snapshot saw, replayed from the history of labels: for each number the last change visible to it.
-- Parameters: $1 the snapshot (pg_snapshot as text).
-- Rows: one a number with a label, by phone.
SELECT phone, level, category, source
FROM (
  SELECT DISTINCT ON (phone) phone, level, category, source
  FROM label_event
  WHERE pg_visible_in_snapshot(changed_by, $1::text::pg_snapshot)
  ORDER BY phone, event_id DESC
) AS last
WHERE level <> 'NEUTRAL'
ORDER BY phone;
