-- Purpose: assigns the letters in force to the company's new legal name, which a person confirms by approving it.
-- Parameters: $1 brand id.
-- Rows: none.
UPDATE letter AS l
SET legal_name = r.profile ->> 'legalName'
FROM brand AS b
JOIN brand_revision AS r ON r.brand_id = b.brand_id AND r.revision = b.pending_revision
JOIN brand_revision AS a ON a.brand_id = b.brand_id AND a.revision = b.approved_revision
WHERE b.brand_id = $1 AND l.brand_id = $1 AND l.state IN ('approved', 'expiring') AND l.legal_name = a.profile ->> 'legalName';
