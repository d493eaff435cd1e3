-- Purpose: who handed in what a person is about to decide. Of a letter: the letter with its request, and each revision that was not
--   approved before up to the one that it is checked against. Of a brand: each revision that was not approved before up to the one
--   that waits, and the letters that wait or came with them.
-- Parameters: $1 brand id, $2 letter id, or NULL for the brand.
-- Rows: handed in by (NULL: the actor says who), actor.
WITH brand_asked AS (
  SELECT b.brand_id, coalesce(b.approved_revision, 0) AS approved,
    CASE WHEN $2::bigint IS NULL THEN coalesce(b.pending_revision, b.last_revision) ELSE (SELECT revision FROM letter WHERE letter_id = $2) END AS asked
  FROM brand AS b
  WHERE b.brand_id = $1
)
SELECT DISTINCT o.handed_in_by, coalesce(o.requested_by, r.created_by) AS actor
FROM brand_asked AS a
JOIN brand_revision AS r ON r.brand_id = a.brand_id AND r.revision > a.approved AND r.revision <= a.asked
LEFT JOIN branding_operation AS o USING (operation_id)
UNION
SELECT o.handed_in_by, o.requested_by AS actor
FROM brand_asked AS a
JOIN letter AS l ON l.brand_id = a.brand_id AND CASE WHEN $2::bigint IS NULL THEN l.revision > a.approved AND l.revision <= a.asked ELSE l.letter_id = $2 END
JOIN branding_operation AS o USING (operation_id);
