-- Purpose: brands, and pending revisions of approved ones, that wait for a person while no letter of theirs does.
-- Parameters: $1 handle after which to begin or '', $2 how many at most.
-- Rows: handle, owner, state, approved display name (NULL: never approved), pending display name, waiting since, and the codes of
--   the findings that a person must judge.
SELECT w.handle, w.owner, w.state, a.display_name AS approved_display_name, w.pending_display_name, w.waiting_since,
  ARRAY (SELECT f ->> 'code' FROM jsonb_array_elements(w.findings) AS f WHERE f ->> 'severity' = 'review') AS findings
FROM waiting_brand AS w
LEFT JOIN brand_revision AS a ON a.brand_id = w.brand_id AND a.revision = w.approved_revision
WHERE w.handle > $1
ORDER BY w.handle
LIMIT $2;
