-- Purpose: brands by handle, for the console.
-- Parameters: $1 owners or NULL for all, $2 state or NULL, $3 what the handle begins with or '', $4 handle after which to begin or '',
--   $5 how many at most.
-- Rows: handle, owner, state, display name, legal name, pending display name, changed at, verified numbers.
SELECT o.handle, o.owner, o.state, o.display_name, o.legal_name, o.pending_display_name, o.changed_at,
  (SELECT count(*) FROM brand_number AS n WHERE n.brand_id = o.brand_id AND n.state = 'verified') AS verified_numbers
FROM brand_overview AS o
WHERE ($1::text[] IS NULL OR o.owner = ANY ($1)) AND ($2::text IS NULL OR o.state = $2) AND starts_with(o.handle, $3) AND o.handle > $4
ORDER BY o.handle
LIMIT $5;
