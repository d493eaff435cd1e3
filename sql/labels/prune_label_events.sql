-- Purpose: removes changes of labels past their retention. The last change of each number before the instant is kept if it set a
--   label: it is the label at that instant. Older changes are removed first, so that a partial run leaves no label that had ended.
-- Parameters: $1 instant before which changes are past it, $2 most rows.
-- Rows: one: removed.
WITH old AS (
  SELECT e.phone, e.event_id
  FROM label_event AS e
  WHERE e.at < $1 AND (
    e.level = 'NEUTRAL'
    OR EXISTS (SELECT FROM label_event AS later WHERE later.phone = e.phone AND later.event_id > e.event_id AND later.at < $1))
  ORDER BY e.phone, e.event_id
  LIMIT $2
), removed AS (
  DELETE FROM label_event AS e USING old WHERE e.phone = old.phone AND e.event_id = old.event_id RETURNING 1
)
SELECT count(*) AS removed FROM removed;
