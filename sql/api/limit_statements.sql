-- Purpose: what a statement of a request may take from now on in this connection: so long, and then the server itself ends it, also when
--   nobody waits for it any more; and one process of the server, since a page takes less time than parallel workers take to start.
-- Parameters: $1 milliseconds (text).
-- Rows: one, without meaning.
SELECT set_config('statement_timeout', $1, false), set_config('max_parallel_workers_per_gather', '0', false);
