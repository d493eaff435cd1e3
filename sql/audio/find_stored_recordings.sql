-- Purpose: which files of the store are recorded.
-- Parameters: $1 digests.
-- Rows: the digests whose audio is recorded and not deleted.
SELECT sha256 FROM recording WHERE sha256 = ANY ($1::text[]) AND deleted_at IS NULL;
