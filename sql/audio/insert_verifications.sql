-- Purpose: adds items to a batch. One with a reason has ended.
-- Parameters: $1 batch id, then one element an item: $2 line, $3 source, $4 digest of its audio or NULL, $5 requested model,
--   $6 model or NULL, $7 reason or NULL, $8 its detail or NULL.
-- Rows: none.
INSERT INTO verification (batch_id, line, source, audio_sha256, requested_model, model, state, reason, reason_detail, ended_at)
SELECT
  $1, given.line, given.source, given.audio_sha256, given.requested_model, given.model,
  CASE WHEN given.reason IS NULL THEN 'queued' ELSE 'error' END, given.reason, given.reason_detail, CASE WHEN given.reason IS NULL THEN NULL ELSE now() END
FROM unnest($2::integer[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
  AS given (line, source, audio_sha256, requested_model, model, reason, reason_detail)
ORDER BY given.line;
