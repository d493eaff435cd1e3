-- Purpose: what an operation came to: its brand, and its letter if it had one.
-- Parameters: $1 brand id, $2 letter id or NULL.
-- Rows: one.
SELECT b.handle, b.state, b.approved_revision, b.pending_revision, r.findings,
  l.letter_id, l.state AS letter_state, l.rule_version, l.signed_on, l.valid_until
FROM brand AS b
JOIN brand_revision AS r ON r.brand_id = b.brand_id AND r.revision = coalesce(b.pending_revision, b.approved_revision, b.last_revision)
LEFT JOIN letter AS l ON l.letter_id = $2
WHERE b.brand_id = $1;
