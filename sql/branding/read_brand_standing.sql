-- Purpose: what the next state of a brand depends on.
-- Parameters: $1 brand id, $2 instant at which letters must be in date.
-- Rows: none or one.
SELECT b.handle, b.state, b.pending_revision, r.needs_decision,
  (SELECT l.state FROM letter AS l WHERE l.brand_id = b.brand_id AND l.revision = b.pending_revision ORDER BY l.letter_id DESC LIMIT 1) AS pending_letter,
  EXISTS (SELECT FROM letter AS l WHERE l.brand_id = b.brand_id AND l.state IN ('approved', 'expiring') AND l.valid_until > $2) AS letter_in_force
FROM brand AS b
LEFT JOIN brand_revision AS r ON r.brand_id = b.brand_id AND r.revision = b.pending_revision
WHERE b.brand_id = $1;
