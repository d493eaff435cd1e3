-- Purpose: ends items of a batch with the stored results for their audio, their model and the settings of the batch. An item without a
--   model takes that of its family, which follows from the sample rate and from what was heard; with one family, that one. The batch is
--   locked, so that its items are not cancelled meanwhile.
-- Parameters: $1 batch id, $2 its generation, $3 the items as JSON text: line, model where one has just been computed, begunSeconds where it
--   was for this item; $4 the models as JSON text: name, manifestSha256; $5 sample rate in Hz below which audio is of the phone family,
--   $6 the note of a result that audio at a higher rate is of the phone family.
-- Rows: line of each item that has ended now.
WITH batch AS MATERIALIZED (
  SELECT * FROM verification_batch WHERE batch_id = $1 AND generation = $2 AND state = 'performing' FOR SHARE
), item AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($3::jsonb) AS item (line integer, model text, "begunSeconds" double precision)
)
UPDATE verification AS v
SET state = r.state, model = r.model, result_id = r.result_id, label = r.decision ->> 'label', reason = r.reason, reason_detail = NULL,
  reused = item."begunSeconds" IS NULL,
  attempts = v.attempts + CASE WHEN v.state = 'queued' AND item."begunSeconds" IS NOT NULL THEN 1 ELSE 0 END,
  started_at = coalesce(v.started_at, now() - coalesce(item."begunSeconds", 0) * interval '1 second'), ended_at = now()
FROM batch AS b, item, verification_result AS r, jsonb_to_recordset($4::jsonb) AS m (name text, "manifestSha256" text)
WHERE v.batch_id = $1 AND v.line = item.line AND v.state IN ('queued', 'performing')
  AND v.line BETWEEN (SELECT min(line) FROM item) AND (SELECT max(line) FROM item) -- no plan may read all that waits
  AND r.audio_sha256 = v.audio_sha256 AND r.model = m.name AND r.model_sha256 = m."manifestSha256" AND r.settings_sha256 = b.settings_sha256
  AND r.model = coalesce(v.model, item.model, CASE
    WHEN b.pinned_digital IS NULL OR ((r.sample_rate < $5 OR r.notes ? $6) AND b.pinned_phone IS NOT NULL) THEN b.pinned_phone
    ELSE b.pinned_digital
  END)
RETURNING v.line;
