-- Purpose: the transactions that the snapshot of this transaction sees, and their database cluster.
-- Parameters: none.
-- Rows: one: transactions (pg_snapshot as text), cluster.
SELECT pg_current_snapshot()::text AS transactions, (SELECT system_identifier::text FROM pg_control_system()) AS cluster;
