-- Purpose: the facts that decide the next state of a brand. Of the letters of its pending revision the best counts; a letter that
--   came with numbers only never counts against the brand. A letter is in force if it is of the published company.
-- Parameters: $1 brand id, $2 instant at which letters must be in date.
-- Rows: none or one.
SELECT b.handle, b.state, b.pending_revision, p.needs_decision,
  (SELECT CASE WHEN l.state IN ('approved', 'expiring') AND l.valid_until <= $2 THEN 'expired' ELSE l.state END
   FROM letter AS l JOIN branding_operation AS o USING (operation_id)
   WHERE l.brand_id = b.brand_id AND l.revision = b.pending_revision
     AND (o.kind <> 'add_phone_number' OR l.state IN ('submitted', 'in_review', 'approved', 'expiring'))
   ORDER BY array_position(ARRAY['approved', 'expiring', 'in_review', 'submitted', 'expired', 'rejected', 'withdrawn'], l.state::text), l.letter_id DESC
   LIMIT 1) AS pending_letter,
  EXISTS (
    SELECT FROM letter AS l
    WHERE l.brand_id = b.brand_id AND l.state IN ('approved', 'expiring') AND l.valid_until > $2
      AND l.legal_name = a.profile ->> 'legalName') AS letter_in_force
FROM brand AS b
LEFT JOIN brand_revision AS p ON p.brand_id = b.brand_id AND p.revision = b.pending_revision
LEFT JOIN brand_revision AS a ON a.brand_id = b.brand_id AND a.revision = coalesce(b.approved_revision, b.pending_revision, b.last_revision)
WHERE b.brand_id = $1;
