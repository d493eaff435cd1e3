-- Purpose: the last stored scoring.
-- Parameters: none.
-- Rows: none or one: version, evaluated_at, transactions and cluster, days and ages.
SELECT rule_version AS version, evaluated_at, transactions, cluster, days::text[] AS days, ages
FROM scoring_run
ORDER BY scoring_id DESC
LIMIT 1;
