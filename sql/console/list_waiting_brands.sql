-- Purpose: brands, and pending revisions of approved ones, that wait for a person while no letter of theirs does.
-- Parameters: $1 handle after which to begin or '', $2 how many at most.
-- Rows: handle, owner, state, approved display name (NULL: never approved), pending display name, waiting since, and the codes of
--   the findings that a person must judge.
SELECT b.handle, b.owner, b.state, a.display_name AS approved_display_name, p.display_name AS pending_display_name, p.created_at AS waiting_since,
  ARRAY (SELECT f ->> 'code' FROM jsonb_array_elements(p.findings) AS f WHERE f ->> 'severity' = 'review') AS findings
FROM brand AS b
JOIN brand_revision AS p ON p.brand_id = b.brand_id AND p.revision = b.pending_revision
LEFT JOIN brand_revision AS a ON a.brand_id = b.brand_id AND a.revision = b.approved_revision
WHERE b.pending_revision IS NOT NULL AND (b.state IN ('submitted', 'in_review') OR (b.approved_revision IS NOT NULL AND b.state <> 'withdrawn'))
  AND NOT EXISTS (SELECT FROM letter AS l WHERE l.brand_id = b.brand_id AND l.revision = b.pending_revision AND l.state IN ('submitted', 'in_review'))
  AND b.handle > $1
ORDER BY b.handle
LIMIT $2;
