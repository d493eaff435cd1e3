-- Purpose: settings of a transaction that sorts and writes many rows: memory for its sorts (with the default of 4 MB a
--   million rows are sorted on disk), and a check of the client's connection once a second, so that the transaction
--   of a killed worker, with its locks, ends soon.
-- Parameters: none.
-- Rows: one, without use.
SELECT set_config('work_mem', '128MB', true), set_config('client_connection_check_interval', '1s', true);
