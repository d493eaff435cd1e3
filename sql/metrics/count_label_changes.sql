-- Purpose: the changes of labels in the last 24 hours, found through the index on their time.
-- Parameters: none.
-- Rows: one: rises, falls and flips.
SELECT count(*) FILTER (WHERE level_before = 'NEUTRAL' AND level <> 'NEUTRAL') AS rises,
  count(*) FILTER (WHERE level_before <> 'NEUTRAL' AND level = 'NEUTRAL') AS falls,
  count(*) FILTER (WHERE level_before <> 'NEUTRAL' AND level <> 'NEUTRAL' AND level_before <> level) AS flips
FROM label_event
WHERE at > now() - interval '24 hours';
