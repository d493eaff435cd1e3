-- Purpose: memory for the sort of a staging table; the default of 4 MB sorts a million rows on disk. For one transaction.
-- Parameters: none.
-- Rows: none.
SET LOCAL work_mem = '128MB';
