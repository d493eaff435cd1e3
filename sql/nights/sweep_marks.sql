-- Purpose: removes the marks that every basis has seen, and those that were restored from another cluster. An artefact that was
--   stale for 14 days loses its basis, so that marks are not kept for it alone; its next build is a full one. Artefacts
--   that another night has locked are left to a later sweep.
-- Parameters: none.
-- Rows: none.
WITH old AS (
  SELECT cache, country FROM publication
  WHERE status = 'stale' AND basis_transactions IS NOT NULL AND confirmed_as_of < now() - interval '14 days'
  FOR UPDATE SKIP LOCKED
), given_up AS (
  UPDATE publication AS p SET basis_transactions = NULL FROM old WHERE p.cache = old.cache AND p.country = old.country
  RETURNING p.cache, p.country
)
DELETE FROM change_mark
WHERE changed_by >= pg_snapshot_xmax(pg_current_snapshot()) OR changed_by < (
  SELECT min(pg_snapshot_xmin(p.basis_transactions::pg_snapshot))
  FROM publication AS p
  WHERE p.basis_transactions IS NOT NULL AND NOT EXISTS (SELECT FROM given_up AS g WHERE g.cache = p.cache AND g.country = p.country));
