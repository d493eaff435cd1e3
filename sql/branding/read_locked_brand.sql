-- Purpose: a brand with its revisions, once it is locked.
-- Parameters: $1 handle.
-- Rows: none or one; profile is that of the pending revision, else of the approved one, else of the last.
SELECT b.brand_id, b.handle, b.owner, b.state, b.approved_revision, b.pending_revision, r.profile, b.last_revision, r.needs_decision, approved.profile AS approved_profile
FROM brand AS b
JOIN brand_revision AS r ON r.brand_id = b.brand_id AND r.revision = coalesce(b.pending_revision, b.approved_revision, b.last_revision)
LEFT JOIN brand_revision AS approved ON approved.brand_id = b.brand_id AND approved.revision = b.approved_revision
WHERE b.handle = $1;
