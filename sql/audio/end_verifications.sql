-- Purpose: ends items with the stored results for their audio, their model and the settings of their batch. An item without a
--   model takes that of its family, which follows from the sample rate and from what was heard; with one family, that one.
-- Parameters: $1 verification ids, $2 generation of their batch, $3 models, $4 digest of the manifest of each,
--   $5 sample rate in Hz below which audio is of the phone family, $6 verification id whose result was computed for it or NULL, $7 the model of that, $8 the note of a result that audio at a higher rate is of the phone family.
-- Rows: verification_id of each item that has ended now.
UPDATE verification AS v
SET state = r.state, model = r.model, result_id = r.result_id, reused = v.verification_id IS DISTINCT FROM $6, reason = r.reason, reason_detail = NULL,
  started_at = coalesce(v.started_at, now()), ended_at = now()
FROM verification_batch AS b, recording AS a, unnest($3::text[], $4::text[]) AS m (model, model_sha256), verification_result AS r
WHERE v.verification_id = ANY ($1::bigint[]) AND v.state IN ('queued', 'performing')
  AND b.batch_id = v.batch_id AND b.generation = $2 AND b.state = 'performing'
  AND a.sha256 = v.audio_sha256
  AND m.model = CASE
    WHEN v.model IS NOT NULL THEN v.model
    WHEN v.verification_id = $6 THEN $7
    WHEN a.sample_rate IS NULL THEN NULL
    WHEN b.pinned_digital IS NULL OR ((a.sample_rate < $5 OR r.notes ? $8) AND b.pinned_phone IS NOT NULL) THEN b.pinned_phone
    ELSE b.pinned_digital
  END
  AND r.audio_sha256 = v.audio_sha256 AND r.model = m.model AND r.model_sha256 = m.model_sha256 AND r.settings_sha256 = b.settings_sha256
RETURNING v.verification_id;
