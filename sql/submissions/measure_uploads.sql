-- Purpose: how many uploads there are, how many of a client are incomplete, how many bytes those of all clients have or will have
--   on the disk, and how many the complete ones have there.
-- Parameters: $1 client or NULL, $2 bytes that a file takes at least.
-- Rows: one.
SELECT
  count(*) AS uploads,
  count(*) FILTER (WHERE client = $1::text AND completed_at IS NULL) AS open,
  coalesce(sum(greatest(bytes, $2::bigint)), 0)::bigint AS bytes,
  coalesce(sum(greatest(bytes, $2::bigint)) FILTER (WHERE completed_at IS NOT NULL), 0)::bigint AS bytes_complete
FROM upload;
