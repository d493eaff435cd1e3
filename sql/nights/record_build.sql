-- Purpose: records that a build has stored its file, which is not published yet. Its rows and levels take the place of those expected:
--   only the build knows which of the changed keys had a row before.
-- Parameters: $1 build id, $2 attempt, $3 rows, $4 file sha256, $5 file bytes, $6 plain sha256, $7 plain bytes, $8 format, $9 index sha256,
--   $10 index bytes, $11 segments, $12 segments that changed without a mark, $13 deltas (JSON text),
--   $14 rows that were read, $15 true if a file of the basis is lost and has the same rows, $16 plain CRC-32, $17 content sha256,
--   $18 rows of a segment at most, $19 levels (JSON text), $20 filter (JSON text), NULL if there is none.
-- Rows: none.
UPDATE build
SET state = 'built', built_at = now(), rows = $3, rows_expected = $3, levels_expected = $19::jsonb, file_sha256 = $4, file_bytes = $5, plain_sha256 = $6, plain_bytes = $7,
  format = $8, index_sha256 = $9, index_bytes = $10, segments = $11, segments_differing = $12, deltas = $13::jsonb, rows_read = $14,
  plain_crc32 = $16, content_sha256 = $17, segment_rows_max = $18, filter = $20::jsonb,
  plan = CASE WHEN $15 THEN plan || '{"basisLost": true}' ELSE plan END,
  failure_code = NULL, failure_reason = NULL
WHERE build_id = $1 AND attempts = $2 AND state = 'running';
