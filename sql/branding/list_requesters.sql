-- Purpose: the persons with a part in the subject of a decision: who submitted it, and users of the console who act for the owner.
--   The subject of a decision on a letter is the letter with its request, and each revision that was not approved before up to the
--   one that it is checked against; on a brand, each revision that was not approved before up to the one that waits, and the
--   letters that wait or came with them; on a resumption, each revision up to the approved one, and their letters.
-- Parameters: $1 brand id, $2 letter id, or NULL for the brand, $3 true for a resumption.
-- Rows: actor, part (request or owner).
WITH brand_asked AS (
  SELECT b.brand_id, CASE WHEN $3::boolean THEN 0 ELSE coalesce(b.approved_revision, 0) END AS approved,
    CASE
      WHEN $3::boolean THEN coalesce(b.approved_revision, b.last_revision)
      WHEN $2::bigint IS NULL THEN coalesce(b.pending_revision, b.last_revision)
      ELSE (SELECT revision FROM letter WHERE letter_id = $2)
    END AS asked
  FROM brand AS b
  WHERE b.brand_id = $1
)
SELECT coalesce(o.submitted_by, o.requested_by) AS actor, 'request' AS part
FROM brand_asked AS a
JOIN brand_revision AS r ON r.brand_id = a.brand_id AND r.revision > a.approved AND r.revision <= a.asked
JOIN branding_operation AS o USING (operation_id)
UNION
SELECT coalesce(o.submitted_by, o.requested_by), 'request'
FROM brand_asked AS a
JOIN letter AS l ON l.brand_id = a.brand_id AND CASE WHEN $2::bigint IS NULL THEN l.revision > a.approved AND l.revision <= a.asked ELSE l.letter_id = $2 END
JOIN branding_operation AS o USING (operation_id)
UNION
SELECT 'console ' || u.name, 'owner'
FROM brand AS b
JOIN console_user_owner AS c USING (owner)
JOIN console_user AS u USING (user_id)
WHERE b.brand_id = $1
ORDER BY part DESC;
