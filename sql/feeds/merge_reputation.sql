-- Purpose: publishes the labels of a reputation feed. The last line of a number counts.
--   A cleared number stays cleared while the feed repeats the cleared label; a different label replaces the clearing.
--   A delayed load does not replace the label of a load that was submitted later.
--   For a protected number, a trigger withholds the published label; the feed's label is stored.
--   Unchanged rows are left out before the INSERT, which would lock each of them.
-- Parameters: $1 load id.
-- Rows: one: rows_superseded (staged rows that a later line overrides), rows_changed (inserted or changed),
--   labels_withheld (of protected numbers).
WITH latest AS MATERIALIZED (
  SELECT DISTINCT ON (phone) phone, country, level, category
  FROM reputation_staging
  ORDER BY phone, line_number DESC
), merged AS (
  INSERT INTO phone_number AS known
    (phone, country, reputation_level, reputation_category, reputation_source, feed_level, feed_category, feed_load_id)
  SELECT phone, l.country, l.level, l.category, 'feed', l.level, l.category, $1::bigint
  FROM latest AS l
  LEFT JOIN phone_number AS before USING (phone)
  WHERE before.phone IS NULL
    OR (before.feed_load_id IS NULL OR before.feed_load_id <= $1) AND (
      (before.reputation_source IS DISTINCT FROM 'feed' AND before.cleared_at IS NULL)
      OR before.feed_level IS DISTINCT FROM l.level
      OR before.feed_category IS DISTINCT FROM l.category
      OR (before.reputation_source = 'feed' AND before.country IS DISTINCT FROM l.country))
  ORDER BY phone
  ON CONFLICT (phone) DO UPDATE SET
    country = EXCLUDED.country,
    reputation_level = EXCLUDED.reputation_level,
    reputation_category = EXCLUDED.reputation_category,
    reputation_source = 'feed',
    feed_level = EXCLUDED.feed_level,
    feed_category = EXCLUDED.feed_category,
    feed_load_id = EXCLUDED.feed_load_id,
    cleared_at = NULL
  -- Compared again: the row may have changed since it was read.
  WHERE (known.feed_load_id IS NULL OR known.feed_load_id <= EXCLUDED.feed_load_id) AND (
    (known.reputation_source IS DISTINCT FROM 'feed' AND known.cleared_at IS NULL)
    OR known.feed_level IS DISTINCT FROM EXCLUDED.feed_level
    OR known.feed_category IS DISTINCT FROM EXCLUDED.feed_category
    OR (known.reputation_source = 'feed' AND known.country IS DISTINCT FROM EXCLUDED.country))
  RETURNING 1
)
SELECT
  (SELECT count(*) FROM reputation_staging) - (SELECT count(*) FROM latest) AS rows_superseded,
  (SELECT count(*) FROM merged) AS rows_changed,
  (SELECT count(*) FROM latest WHERE level <> 'NEUTRAL' AND is_protected_number(phone)) AS labels_withheld;
