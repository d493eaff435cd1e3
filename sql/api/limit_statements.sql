-- Purpose: limits the statements of this connection: in time, so that the server ends them also when the client is gone; and to one
--   server process, since a page takes less time than the start of parallel workers.
-- Parameters: $1 milliseconds (text).
-- Rows: one, without meaning.
SELECT set_config('statement_timeout', $1, false), set_config('max_parallel_workers_per_gather', '0', false);
