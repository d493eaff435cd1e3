-- Purpose: the brand that a client calls by a handle.
-- Parameters: $1 handle, $2 client.
-- Rows: none or one; none also for a brand of another client.
SELECT brand_id, handle, state, display_name, legal_name, dba, website, country, call_reasons, logo, relationship,
  approved_revision, pending_revision, pending_display_name, created_at, changed_at, approved_at
FROM brand_overview
WHERE handle = $1 AND owner = $2;
