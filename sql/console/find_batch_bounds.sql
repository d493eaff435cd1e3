-- Purpose: the batches that were submitted between two instants. Ids rise with time, except for batches of the same moment.
-- Parameters: $1 first instant or NULL, $2 the instant after the last or NULL.
-- Rows: one: lowest and highest batch id, NULL where there is no bound or no such batch.
SELECT
  (SELECT batch_id FROM verification_batch WHERE requested_at >= $1::timestamptz ORDER BY requested_at LIMIT 1) AS lowest,
  (SELECT batch_id FROM verification_batch WHERE requested_at < $2::timestamptz ORDER BY requested_at DESC LIMIT 1) AS highest;
