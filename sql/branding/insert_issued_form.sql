-- Purpose: stores an issued letter form.
-- Parameters: $1 code, $2 owner, $3 SHA-256 of its bytes, $4 their count, $5 version of the form, $6 language, $7 content (JSON text),
--   $8 place of the signature (JSON text), $9 issued at, $10 issued by, $11 valid until, $12 handle of the brand or NULL.
-- Rows: one: its id.
INSERT INTO issued_form (code, owner, sha256, bytes, form_version, language, content, signature_place, issued_at, issued_by, valid_until, handle)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
RETURNING form_id;
