-- Purpose: revokes an issued form.
-- Parameters: $1 form id, $2 who does it, $3 reason.
-- Rows: one if it was not revoked before.
UPDATE issued_form SET revoked_at = now(), revoked_by = $2, revoked_reason = $3
WHERE form_id = $1 AND revoked_at IS NULL
RETURNING form_id;
