-- Purpose: a page of the brands of a client, for /v1/brands.
-- Parameters: $1 client, $2 state or NULL for all, $3 handle after which the page begins ('' for the first), $4 most rows, $5 the one handle that
--   the key sees, or NULL for all.
-- Rows: one a brand, by handle.
SELECT handle, state, display_name, legal_name, dba, website, country, call_reasons, logo, relationship,
  approved_revision, pending_revision, pending_display_name, created_at, changed_at, approved_at
FROM brand_overview
WHERE owner = $1 AND ($2::text IS NULL OR state = $2) AND handle > $3 AND ($5::text IS NULL OR handle = $5)
ORDER BY handle
LIMIT $4;
