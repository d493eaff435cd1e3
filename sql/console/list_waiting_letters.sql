-- Purpose: letters that wait for a person, oldest first.
-- Parameters: $1 letter id after which to begin (0: from the oldest), $2 how many at most.
-- Rows: letter id, handle, owner, display name of the revision that it came with, submitted at, format, pages, how many numbers
--   were requested with it, and the codes of the findings that a person must judge.
SELECT l.letter_id, b.handle, b.owner, r.display_name, l.submitted_at, l.format, l.pages,
  coalesce((o.result #>> '{numbers,accepted}')::int + (o.result #>> '{numbers,known}')::int, 0) AS requested,
  ARRAY (SELECT DISTINCT f.code FROM letter_finding AS f WHERE f.letter_id = l.letter_id AND f.severity = 'review' ORDER BY f.code) AS findings
FROM letter AS l
JOIN brand AS b USING (brand_id)
JOIN branding_operation AS o USING (operation_id)
JOIN brand_revision AS r ON r.brand_id = l.brand_id AND r.revision = l.revision
WHERE l.state IN ('submitted', 'in_review') AND l.letter_id > $1
ORDER BY l.letter_id
LIMIT $2;
