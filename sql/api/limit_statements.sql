-- Purpose: limits the statements of this connection: in time, so that the server ends them also when the client is gone; to one
--   server process, since a page takes less time than the start of parallel workers; and to indexes where there is one, since the plan
--   of a prepared statement, made while a table is nearly empty, is kept until the server analyses the table that has grown.
-- Parameters: $1 milliseconds (text).
-- Rows: one, without meaning.
SELECT set_config('statement_timeout', $1, false), set_config('max_parallel_workers_per_gather', '0', false),
  set_config('enable_seqscan', 'off', false);
