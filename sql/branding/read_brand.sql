-- Purpose: one brand with the profiles of its approved and its pending revision, for operators.
-- Parameters: $1 handle.
-- Rows: none or one.
SELECT b.brand_id, b.handle, b.owner, b.state, b.approved_revision, b.pending_revision, b.created_at, b.changed_at, b.approved_at,
  coalesce(a.profile, l.profile) AS profile, p.profile AS pending_profile, coalesce(p.findings, a.findings, l.findings) AS findings
FROM brand AS b
LEFT JOIN brand_revision AS a ON a.brand_id = b.brand_id AND a.revision = b.approved_revision
LEFT JOIN brand_revision AS p ON p.brand_id = b.brand_id AND p.revision = b.pending_revision
JOIN brand_revision AS l ON l.brand_id = b.brand_id AND l.revision = b.last_revision
WHERE b.handle = $1;
