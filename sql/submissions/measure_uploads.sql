-- Purpose: how many uploads there are, how many of a client are incomplete, and how many bytes of the disk are kept for those of all
--   clients and of this one.
-- Parameters: $1 client or NULL, $2 bytes that a file takes at least.
-- Rows: one.
SELECT
  count(*) AS uploads,
  count(*) FILTER (WHERE client = $1::text AND completed_at IS NULL) AS open,
  coalesce(sum(greatest(reserved_bytes, $2::bigint)), 0)::bigint AS bytes,
  coalesce(sum(greatest(reserved_bytes, $2::bigint)) FILTER (WHERE client = $1::text), 0)::bigint AS client_bytes
FROM upload;
