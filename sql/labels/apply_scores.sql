-- Purpose: publishes the scores of scored numbers and of candidates without a feed's label. A number that reaches a level is inserted if necessary;
--   one that falls below it, and had its level from complaints, becomes NEUTRAL, and so does a protected number. Unchanged rows are not written.
--   A number that was cleared after the start of the scoring transaction is left to the next night. Numbers are looked up by key
--   (OFFSET 0): a join would read all of them for some thousand candidates.
-- Parameters: none.
-- Rows: one: changed (inserted or changed), withheld (protected numbers with a level).
WITH withheld AS MATERIALIZED (
  SELECT protected_among(ARRAY(SELECT phone::text FROM complaint_scored WHERE level <> 'NEUTRAL')) AS phone
), differing AS MATERIALIZED (
  SELECT s.phone, s.country, s.level, s.category, p.reputation_source, p.cleared_at
  FROM (
    SELECT phone, n.country, coalesce(n.level, 'NEUTRAL') AS level, n.category
    FROM complaint_candidate FULL JOIN (
      SELECT phone, country, CASE WHEN hidden THEN 'NEUTRAL' ELSE level END AS level, CASE WHEN NOT hidden THEN category END AS category
      FROM (SELECT *, phone IN (SELECT phone FROM withheld) AS hidden FROM complaint_scored) AS c
    ) AS n USING (phone)
  ) AS s
  LEFT JOIN LATERAL (SELECT * FROM phone_number AS p WHERE p.phone = s.phone OFFSET 0) AS p ON true
  WHERE (s.level <> 'NEUTRAL' OR p.reputation_source = 'complaints')
    AND (p.phone IS NULL OR p.reputation_level <> s.level OR p.reputation_category IS DISTINCT FROM s.category)
), published AS (
  INSERT INTO phone_number AS known (phone, country, reputation_level, reputation_category, reputation_source)
  SELECT phone, country, level, category, 'complaints'
  FROM differing
  WHERE reputation_source IS DISTINCT FROM 'feed' AND (cleared_at IS NULL OR cleared_at <= now())
  ORDER BY phone
  ON CONFLICT (phone) DO UPDATE SET
    reputation_level = EXCLUDED.reputation_level,
    reputation_category = EXCLUDED.reputation_category,
    reputation_source = 'complaints'
  WHERE known.reputation_source IS DISTINCT FROM 'feed'
    AND (known.reputation_level, known.reputation_category) IS DISTINCT FROM (EXCLUDED.reputation_level, EXCLUDED.reputation_category)
    AND (known.cleared_at IS NULL OR known.cleared_at <= now())
  RETURNING 1
)
SELECT count(*) AS changed, (SELECT count(*) FROM withheld) AS withheld FROM published;
