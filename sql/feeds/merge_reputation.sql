-- Purpose: publishes the labels of a staged reputation feed that differ from the stored ones. For a protected number the feed's label is
--   stored and NEUTRAL published.
-- Parameters: $1 load id.
-- Rows: one: labels_withheld (of changed rows).
WITH changed AS MATERIALIZED (
  SELECT phone, country, level, category, known FROM reputation_compared
  WHERE differs AND (feed_load_id IS NULL OR feed_load_id <= $1)
), withheld AS MATERIALIZED (
  SELECT protected_among(ARRAY(SELECT phone FROM changed WHERE level <> 'NEUTRAL')) AS phone
), published AS NOT MATERIALIZED (
  SELECT c.*, CASE WHEN w.phone IS NULL THEN level ELSE 'NEUTRAL' END AS published_level, CASE WHEN w.phone IS NULL THEN category END AS published_category
  FROM changed AS c LEFT JOIN withheld AS w USING (phone)
), added AS (
  INSERT INTO phone_number (phone, country, reputation_level, reputation_category, reputation_source, feed_level, feed_category, feed_load_id)
  SELECT phone, country, published_level, published_category, 'feed', level, category, $1::bigint
  FROM published
  WHERE NOT known
  ORDER BY phone -- the indexes are filled from one end to the other
), replaced AS (
  UPDATE phone_number AS p SET
    country = n.country,
    reputation_level = n.published_level,
    reputation_category = n.published_category,
    reputation_source = 'feed',
    feed_level = n.level,
    feed_category = n.category,
    feed_load_id = $1,
    cleared_at = NULL
  FROM published AS n
  WHERE n.known AND p.phone = n.phone
)
SELECT count(*) AS labels_withheld FROM withheld;
