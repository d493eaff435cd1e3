-- Purpose: the snapshot of a night, and the last scoring that it saw: that of the night itself, since nights are prepared one at a time.
-- Parameters: $1 run id.
-- Rows: none or one: transactions (pg_snapshot as text; NULL for a night without a snapshot, or one of another database cluster), and of the
--   scoring, NULL without one: evaluated_at, rule_version, scoring_saw (pg_snapshot as text).
SELECT own.transactions, s.evaluated_at, s.rule_version, s.transactions AS scoring_saw
FROM night_run AS n
LEFT JOIN LATERAL (
  SELECT n.transactions WHERE n.cluster = (SELECT system_identifier::text FROM pg_control_system())) AS own ON true
LEFT JOIN LATERAL (
  SELECT evaluated_at, rule_version, transactions FROM scoring_run
  WHERE pg_visible_in_snapshot(recorded_by, own.transactions::pg_snapshot)
  ORDER BY scoring_id DESC LIMIT 1) AS s ON true
WHERE n.run_id = $1;
