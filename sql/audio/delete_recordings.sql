-- Purpose: records that stored audio is deleted.
-- Parameters: $1 digests, $2 why.
-- Rows: none.
UPDATE recording SET deleted_at = now(), deleted_why = $2 WHERE sha256 = ANY ($1::text[]) AND deleted_at IS NULL;
