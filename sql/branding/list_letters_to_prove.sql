-- Purpose: letters of a brand that are issued forms and wait, with the numbers that they authorize.
-- Parameters: $1 brand id.
-- Rows: letter_id, revision with its profile, whether that one waits for a decision, signed_on, phones, and findings as they were kept.
SELECT l.letter_id, l.revision, r.profile, coalesce(b.pending_revision = l.revision, false) AS is_pending, l.signed_on,
  (SELECT coalesce(array_agg(n.phone::text ORDER BY n.phone), '{}') FROM letter_number AS n WHERE n.letter_id = l.letter_id) AS phones,
  (SELECT coalesce(json_agg(json_build_object('code', f.code, 'severity', f.severity) ORDER BY f.position), '[]')
   FROM letter_finding AS f WHERE f.letter_id = l.letter_id) AS findings
FROM letter AS l
JOIN brand AS b USING (brand_id)
JOIN brand_revision AS r ON r.brand_id = l.brand_id AND r.revision = l.revision
WHERE l.brand_id = $1 AND l.state = 'in_review' AND l.form_id IS NOT NULL
ORDER BY l.letter_id;
