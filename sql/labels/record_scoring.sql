-- Purpose: records what a scoring saw, in its own transaction.
-- Parameters: $1 evaluated at, $2 rule version, $3 transactions that it saw (pg_snapshot as text), $4 database cluster, $5 the days that
--   counted, $6 their ages, $7 true if it scored all numbers.
-- Rows: none.
INSERT INTO scoring_run (evaluated_at, rule_version, transactions, cluster, days, ages, scored_all)
VALUES ($1, $2, $3, $4, $5::date[], $6, $7);
