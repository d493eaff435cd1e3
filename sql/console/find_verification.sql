-- Purpose: a verification of any client with all its facts.
-- Parameters: $1 public id.
-- Rows: none or one.
SELECT v.public_id AS id, b.public_id AS batch, v.state, b.mode, v.requested_model, v.model, b.release,
  v.audio_sha256 IS NOT NULL AS audio, v.audio_sha256 AS "audio.sha256", coalesce(result.sample_rate, recording.sample_rate) AS "audio.sample_rate",
  coalesce(result.channels, recording.channels) AS "audio.channels", coalesce(result.duration_seconds, recording.duration_seconds) AS "audio.duration",
  result.voice_seconds AS "audio.voice_duration",
  v.state = 'performed' AS scores, result.synthesis AS "scores.synthesis", result.replay AS "scores.replay", 'higher-is-authentic' AS score_direction,
  CASE WHEN v.state = 'performed' THEN result.decision END AS decision, v.reason, v.attempts, v.line, v.source, b.name AS batch_name, b.owner, b.requested_by, b.settings,
  v.queued_at AS "times.queued", v.started_at AS "times.started", v.ended_at AS "times.ended", b.requested_at AS "times.requested",
  v.reason_detail, v.reused, result.computed_ms, coalesce(result.channel_scores, '[]') AS channel_scores, coalesce(result.notes, '[]') AS notes,
  coalesce(result.windows, '[]') AS windows,
  v.audio_sha256 IS NOT NULL AS recording, recording.bytes AS "recording.bytes", recording.format AS "recording.format",
  recording.codec AS "recording.codec", recording.stored_at AS "recording.stored_at", recording.deleted_at AS "recording.deleted_at",
  recording.deleted_why AS "recording.deleted_why"
FROM verification AS v
JOIN verification_batch AS b USING (batch_id)
LEFT JOIN verification_result AS result USING (result_id)
LEFT JOIN recording ON recording.sha256 = v.audio_sha256
WHERE v.public_id = $1;
