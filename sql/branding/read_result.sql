-- Purpose: the brand and the letter that an operation has made or changed.
-- Parameters: $1 brand id, $2 letter id or NULL.
-- Rows: one.
SELECT b.handle AS "brand.handle", b.state AS "brand.state", b.approved_revision AS "brand.approved_revision",
  b.pending_revision AS "brand.pending_revision", r.findings AS "brand.findings",
  l.letter_id IS NOT NULL AS letter, l.letter_id AS "letter.letter_id", l.state AS "letter.state", l.rule_version AS "letter.rule_version",
  l.signed_on AS "letter.signed_on", l.valid_until AS "letter.valid_until"
FROM brand AS b
JOIN brand_revision AS r ON r.brand_id = b.brand_id AND r.revision = coalesce(b.pending_revision, b.approved_revision, b.last_revision)
LEFT JOIN letter AS l ON l.letter_id = $2
WHERE b.brand_id = $1;
