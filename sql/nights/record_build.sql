-- Purpose: records that a build has stored its file. Nothing points to the file yet.
-- Parameters: $1 build id, $2 rows, $3 file sha256, $4 file bytes, $5 plain sha256, $6 plain bytes, $7 try.
-- Rows: none.
UPDATE build
SET state = 'built', built_at = now(), rows = $2, file_sha256 = $3, file_bytes = $4, plain_sha256 = $5, plain_bytes = $6,
  failure_code = NULL, failure_reason = NULL
WHERE build_id = $1 AND attempts = $7 AND state = 'running';
