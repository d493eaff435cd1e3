-- Purpose: rule and instant of the last stored scoring.
-- Parameters: none.
-- Rows: one: version and evaluated_at, NULL if nothing was ever scored; scored (numbers), labelled.
SELECT
  (array_agg(rule_version ORDER BY scored_at DESC))[1] AS version, max(scored_at) AS evaluated_at,
  count(*) AS scored, count(*) FILTER (WHERE level <> 'NEUTRAL') AS labelled
FROM complaint_score;
