-- Purpose: letters of a brand that are issued forms, not revoked, and wait, with the numbers that they authorize.
-- Parameters: $1 brand id.
-- Rows: letter_id, revision with its profile, whether that one waits for a decision, signed_on, phones, and findings as they were kept.
SELECT l.letter_id, l.revision, r.profile, coalesce(b.pending_revision = l.revision, false) AS is_pending, l.signed_on,
  (SELECT coalesce(array_agg(n.phone::text ORDER BY n.phone), '{}') FROM letter_number AS n WHERE n.letter_id = l.letter_id) AS phones,
  (SELECT coalesce(json_agg(json_build_object('code', e.code, 'severity', e.severity) ORDER BY e.position), '[]')
   FROM letter_finding AS e WHERE e.letter_id = l.letter_id) AS findings
FROM letter AS l
JOIN brand AS b USING (brand_id)
JOIN brand_revision AS r ON r.brand_id = l.brand_id AND r.revision = l.revision
JOIN issued_form AS f USING (form_id)
WHERE l.brand_id = $1 AND l.state = 'in_review' AND f.revoked_at IS NULL
ORDER BY l.letter_id;
