-- Purpose: removes the marks that every basis has seen. An artefact that was stale for 14 days gives up its basis, so that the
--   marks of all others need not be kept for it; its next build is a full one.
-- Parameters: none.
-- Rows: none.
WITH given_up AS (
  UPDATE publication SET basis_transactions = NULL
  WHERE status = 'stale' AND basis_transactions IS NOT NULL AND confirmed_as_of < now() - interval '14 days'
  RETURNING cache, country
)
DELETE FROM change_mark
WHERE changed_by < (
  SELECT min(pg_snapshot_xmin(p.basis_transactions::pg_snapshot))
  FROM publication AS p
  WHERE p.basis_transactions IS NOT NULL AND NOT EXISTS (SELECT FROM given_up AS g WHERE g.cache = p.cache AND g.country = p.country));
