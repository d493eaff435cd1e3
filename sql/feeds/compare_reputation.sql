-- Purpose: each staged number of a reputation feed beside what is stored, and whether that would change. Dropped with the staging table.
--   A cleared number stays cleared while the feed repeats the cleared label; a different label replaces the clearing.
-- Parameters: none.
-- Rows: none.
CREATE TEMP VIEW reputation_compared AS
SELECT phone, s.country, s.level, s.category, p.phone IS NOT NULL AS known, p.feed_level IS NOT NULL AS listed, p.feed_load_id,
  p.reputation_level <> p.feed_level AND p.reputation_source = 'feed' AS withheld,
  p.phone IS NULL
    OR p.feed_level IS DISTINCT FROM s.level
    OR p.feed_category IS DISTINCT FROM s.category
    OR (p.country IS DISTINCT FROM s.country AND p.reputation_source = 'feed')
    OR (p.reputation_source IS DISTINCT FROM 'feed' AND p.cleared_at IS NULL) AS differs
FROM feed_staging AS s LEFT JOIN phone_number AS p USING (phone);
