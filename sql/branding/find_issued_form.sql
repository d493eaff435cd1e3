-- Purpose: the issued form with one of the digests or codes, locked so that it becomes the letter of one brand, and whether a person
--   decided against a letter of it.
-- Parameters: $1 SHA-256 of possible first revisions, $2 codes that were read on a letter.
-- Rows: none or one; decided_against: a person has rejected or withdrawn a letter of this form.
SELECT f.form_id, f.code, f.owner, f.sha256, f.bytes, f.form_version, f.language, f.content, f.signature_place, f.issued_at, f.valid_until, f.brand_id,
  EXISTS (
    SELECT FROM letter AS l
    WHERE l.form_id = f.form_id AND (l.state = 'withdrawn' OR (l.state = 'rejected' AND l.decided_by NOT LIKE 'letter-rules/%'))) AS decided_against,
  f.revoked_at IS NOT NULL AS revoked, f.sha256 = ANY ($1) AS same_bytes
FROM issued_form AS f
WHERE f.sha256 = ANY ($1) OR f.code = ANY ($2)
ORDER BY f.sha256 = ANY ($1) DESC, f.form_id
LIMIT 1
FOR UPDATE OF f;
