-- Purpose: publishes the scores of candidates without a feed's label. A number that reaches a level is inserted if necessary;
--   one that falls below it, and had its level from complaints, becomes NEUTRAL. Unchanged rows are not written.
--   A number that was cleared after the start of the scoring transaction is left to the next night.
-- Parameters: none.
-- Rows: one: changed (inserted or changed), withheld (protected numbers with a level).
WITH published AS (
  INSERT INTO phone_number AS known (phone, country, reputation_level, reputation_category, reputation_source)
  SELECT s.phone, s.country, s.level, s.category, 'complaints'
  FROM complaint_candidate
  JOIN complaint_score AS s USING (phone)
  LEFT JOIN phone_number AS p USING (phone)
  WHERE p.reputation_source IS DISTINCT FROM 'feed'
    AND (s.level <> 'NEUTRAL' OR p.reputation_source = 'complaints')
    AND (p.phone IS NULL OR p.reputation_level <> s.level OR p.reputation_category IS DISTINCT FROM s.category)
    AND (p.cleared_at IS NULL OR p.cleared_at <= now())
  ORDER BY s.phone
  ON CONFLICT (phone) DO UPDATE SET
    reputation_level = EXCLUDED.reputation_level,
    reputation_category = EXCLUDED.reputation_category,
    reputation_source = 'complaints'
  WHERE known.reputation_source IS DISTINCT FROM 'feed'
    AND (known.reputation_level, known.reputation_category) IS DISTINCT FROM (EXCLUDED.reputation_level, EXCLUDED.reputation_category)
    AND (known.cleared_at IS NULL OR known.cleared_at <= now())
  RETURNING 1
)
SELECT count(*) AS changed, (SELECT count(*) FROM complaint_scored WHERE level <> 'NEUTRAL' AND is_protected_number(phone)) AS withheld
FROM published;
