-- Purpose: records the transactions that a scoring saw, in its own transaction.
-- Parameters: $1 evaluated at, $2 rule version, $3 transactions that it saw (pg_snapshot as text).
-- Rows: none.
INSERT INTO scoring_run (evaluated_at, rule_version, transactions) VALUES ($1, $2, $3);
