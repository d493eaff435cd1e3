-- Purpose: letters, newest first.
-- Parameters: $1 letter id or NULL, $2 handle or NULL, $3 state or NULL, $4 instant up to which a letter in force must end or
--   NULL, $5 letter id before which to begin or NULL, $6 how many at most, $7 owners or
--   NULL for all.
-- Rows: one a letter, with its brand and whether its document is destroyed.
SELECT l.letter_id, b.handle, b.owner, l.revision, l.operation_id, l.state, l.submitted_at, l.rule_version, l.format, l.pages,
  l.signed_on, l.decided_at, l.decided_by, l.decision_reason, l.valid_from, l.valid_until,
  (SELECT count(*) FROM letter_number AS c WHERE c.letter_id = l.letter_id) AS numbers,
  d.document_id AS "document.document_id", d.sha256 AS "document.sha256", d.bytes AS "document.bytes", d.destroyed_at AS "document.destroyed_at"
FROM letter AS l
JOIN brand AS b USING (brand_id)
JOIN document AS d USING (document_id)
WHERE ($1::bigint IS NULL OR l.letter_id = $1) AND ($2::text IS NULL OR b.handle = $2) AND ($3::text IS NULL OR l.state = $3)
  AND ($4::timestamptz IS NULL OR (l.state IN ('approved', 'expiring') AND l.valid_until <= $4))
  AND ($5::bigint IS NULL OR l.letter_id < $5) AND ($7::text[] IS NULL OR b.owner = ANY ($7))
ORDER BY l.letter_id DESC
LIMIT $6;
