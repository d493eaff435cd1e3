-- Purpose: locks stored audio until the transaction ends.
-- Parameters: $1 digest.
-- Rows: one, or none if no such audio was ever stored.
SELECT sha256, bytes, deleted_at, deleted_why FROM recording WHERE sha256 = $1 FOR UPDATE;
