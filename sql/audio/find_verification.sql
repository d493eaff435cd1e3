-- Purpose: a verification with its windows, for /v1/verifications/{id}.
-- Parameters: $1 public id, $2 client.
-- Rows: none or one; none also for a verification of another client.
SELECT b.batch_id, b.public_id AS batch, b.mode, b.release, v.public_id, v.line, v.state, v.requested_model, v.model, v.audio_sha256, v.reason,
  v.attempts, v.queued_at, v.started_at, v.ended_at,
  coalesce(result.sample_rate, recording.sample_rate) AS sample_rate, coalesce(result.channels, recording.channels) AS channels,
  coalesce(result.duration_seconds, recording.duration_seconds) AS duration_seconds, result.voice_seconds, result.synthesis, result.replay, result.decision, result.windows
FROM verification AS v
JOIN verification_batch AS b USING (batch_id)
LEFT JOIN verification_result AS result USING (result_id)
LEFT JOIN recording ON recording.sha256 = v.audio_sha256
WHERE v.public_id = $1 AND b.owner = $2;
