-- Purpose: a verification of any client with all that is known of it.
-- Parameters: $1 public id.
-- Rows: none or one.
SELECT b.batch_id, b.public_id AS batch, b.name AS batch_name, b.owner, b.requested_by, b.requested_at, b.mode, b.release, b.settings,
  v.public_id, v.line, v.source, v.state, v.requested_model, v.model, v.audio_sha256, v.reason, v.reason_detail, v.reused,
  v.attempts, v.queued_at, v.started_at, v.ended_at,
  coalesce(result.sample_rate, recording.sample_rate) AS sample_rate, coalesce(result.channels, recording.channels) AS channels,
  coalesce(result.duration_seconds, recording.duration_seconds) AS duration_seconds, result.voice_seconds, result.synthesis, result.replay, result.decision,
  result.channel_scores, result.notes, result.windows, result.computed_ms,
  recording.bytes, recording.format, recording.codec, recording.stored_at, recording.deleted_at, recording.deleted_why
FROM verification AS v
JOIN verification_batch AS b USING (batch_id)
LEFT JOIN verification_result AS result USING (result_id)
LEFT JOIN recording ON recording.sha256 = v.audio_sha256
WHERE v.public_id = $1;
