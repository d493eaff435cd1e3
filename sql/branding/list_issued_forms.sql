-- Purpose: issued forms of letters, newest first.
-- Parameters: $1 form id or NULL, $2 owners or NULL for all, $3 handle of the brand or NULL, $4 form id before which to begin or NULL,
--   $5 how many at most.
-- Rows: one a form, with the newest letter that it came back as.
SELECT f.form_id, f.code, f.owner, f.language, f.issued_at, f.valid_until, coalesce(b.handle, f.handle) AS handle,
  f.content ->> 'legalName' AS legal_name, f.content ->> 'displayName' AS display_name, jsonb_array_length(f.content -> 'phones') AS numbers,
  f.issued_by, (SELECT max(l.letter_id) FROM letter AS l WHERE l.form_id = f.form_id) AS letter_id,
  f.revoked_at, f.revoked_by, f.revoked_reason
FROM issued_form AS f
LEFT JOIN brand AS b USING (brand_id)
WHERE ($1::bigint IS NULL OR f.form_id = $1) AND ($2::text[] IS NULL OR f.owner = ANY ($2))
  AND ($3::text IS NULL OR coalesce(b.handle, f.handle) = $3) AND ($4::bigint IS NULL OR f.form_id < $4)
ORDER BY f.form_id DESC
LIMIT $5;
