-- Purpose: brands by handle, without private fields.
-- Parameters: $1 owner or NULL for all, $2 owners or NULL for all, $3 state or NULL for all, $4 handle or NULL for all, $5 what the handle begins
--   with or '', $6 handle after which to begin or '', $7 how many at most, $8 whether verified numbers are counted.
-- Rows: one a brand; with the profile of its approved revision, or else of the one that waits, or of the last.
SELECT o.brand_id, o.handle, o.owner, o.state, o.display_name, o.legal_name, o.dba, o.website, o.country, coalesce(nullif(o.call_reasons, 'null'), '[]') AS call_reasons,
  o.logo, o.logo_sha256, o.relationship, o.approved_revision, o.pending_revision, o.pending_display_name, o.created_at, o.changed_at, o.approved_at,
  CASE WHEN $8 THEN (SELECT count(*) FROM brand_number AS n WHERE n.brand_id = o.brand_id AND n.state = 'verified') END AS verified_numbers
FROM brand_overview AS o
WHERE ($1::text IS NULL OR o.owner = $1) AND ($2::text[] IS NULL OR o.owner = ANY ($2)) AND ($3::text IS NULL OR o.state = $3)
  AND ($4::text IS NULL OR o.handle = $4) AND ($5 = '' OR starts_with(o.handle, $5)) AND o.handle > $6
ORDER BY o.handle
LIMIT $7;
