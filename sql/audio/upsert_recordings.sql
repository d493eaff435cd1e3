-- Purpose: records submitted audio, also audio that was deleted before. In the order of the digests, so that two batches with
--   the same audio do not deadlock.
-- Parameters: $1 digests, $2 bytes of each.
-- Rows: none.
INSERT INTO recording (sha256, bytes)
SELECT given.sha256, given.bytes FROM unnest($1::text[], $2::bigint[]) AS given (sha256, bytes) ORDER BY given.sha256
ON CONFLICT (sha256) DO UPDATE SET last_submitted_at = now(), deleted_at = NULL, deleted_why = NULL;
