-- Purpose: stores complaint_scored. A candidate whose complaints no longer count has no points. Unchanged rows are not written, so that
--   scored_at is the time of the last change. Stored scores are looked up by key (OFFSET 0): for some thousand candidates all were read.
-- Parameters: $1 evaluated at, $2 rule version.
-- Rows: none.
INSERT INTO complaint_score AS before
  (phone, country, level, category, score, reports, independent_reports, days, states, first_reported_at, last_reported_at, rule_version, scored_at)
SELECT phone, country, level, category, score, reports, independent_reports, days, states, first_reported_at, last_reported_at, rule_version, scored_at
FROM complaint_scored
UNION ALL
SELECT s.phone, s.country, 'NEUTRAL', NULL, 0, 0, 0, 0, 0, NULL, NULL, $2, $1::timestamptz
FROM complaint_candidate AS k
CROSS JOIN LATERAL (SELECT * FROM complaint_score AS s WHERE s.phone = k.phone OFFSET 0) AS s
WHERE (s.reports > 0 OR s.rule_version <> $2) AND NOT EXISTS (SELECT FROM complaint_scored AS now WHERE now.phone = k.phone)
ORDER BY phone
ON CONFLICT (phone) DO UPDATE SET
  country = EXCLUDED.country, level = EXCLUDED.level, category = EXCLUDED.category, score = EXCLUDED.score,
  reports = EXCLUDED.reports, independent_reports = EXCLUDED.independent_reports, days = EXCLUDED.days, states = EXCLUDED.states,
  first_reported_at = EXCLUDED.first_reported_at, last_reported_at = EXCLUDED.last_reported_at,
  rule_version = EXCLUDED.rule_version, scored_at = EXCLUDED.scored_at
WHERE (before.country, before.level, before.category, before.score, before.reports, before.independent_reports, before.days, before.states,
    before.first_reported_at, before.last_reported_at, before.rule_version)
  IS DISTINCT FROM (EXCLUDED.country, EXCLUDED.level, EXCLUDED.category, EXCLUDED.score, EXCLUDED.reports, EXCLUDED.independent_reports,
    EXCLUDED.days, EXCLUDED.states, EXCLUDED.first_reported_at, EXCLUDED.last_reported_at, EXCLUDED.rule_version);
