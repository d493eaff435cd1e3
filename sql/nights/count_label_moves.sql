-- Purpose: numbers whose label in a night differs from the published one, by country: those that got a label, lost it, or moved
--   from one level to another. The first event after the published snapshot has the old level, the last event that the night
--   sees has the new one. A transaction that a snapshot does not see is no older than its oldest open one.
-- Parameters: $1 published snapshot and $2 the night's (pg_snapshot as text).
-- Rows: one a country ('' for numbers without one) with rises, falls and flips.
WITH moved AS (
  SELECT phone, (array_agg(level_before ORDER BY event_id))[1] AS before, (array_agg(level ORDER BY event_id DESC))[1] AS after
  FROM label_event
  WHERE changed_by >= pg_snapshot_xmin($1::pg_snapshot)
    AND NOT pg_visible_in_snapshot(changed_by, $1::pg_snapshot) AND pg_visible_in_snapshot(changed_by, $2::pg_snapshot)
  GROUP BY phone
)
SELECT coalesce(n.country, '') AS country,
  count(*) FILTER (WHERE before = 'NEUTRAL') AS rises,
  count(*) FILTER (WHERE after = 'NEUTRAL') AS falls,
  count(*) FILTER (WHERE before <> 'NEUTRAL' AND after <> 'NEUTRAL') AS flips
FROM moved LEFT JOIN phone_number AS n USING (phone)
WHERE before <> after
GROUP BY 1;
