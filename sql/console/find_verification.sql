-- Purpose: a verification of any client with all its facts.
-- Parameters: $1 public id.
-- Rows: none or one.
SELECT v.public_id AS id, b.public_id AS batch, v.state, b.mode, v.requested_model, v.model, b.release,
  v.audio_sha256 IS NOT NULL AS audio, v.audio_sha256 AS "audio.sha256", result.sample_rate AS "audio.sample_rate",
  result.channels AS "audio.channels", result.duration_seconds AS "audio.duration",
  result.voice_seconds AS "audio.voice_duration",
  v.state = 'performed' AS scores, result.synthesis AS "scores.synthesis", result.replay AS "scores.replay", 'higher-is-authentic' AS score_direction,
  CASE WHEN v.state = 'performed' THEN result.decision END AS decision, v.reason, v.attempts, v.line, v.source, b.name AS batch_name, b.owner, b.requested_by, b.settings,
  v.queued_at AS "times.queued", v.started_at AS "times.started", v.ended_at AS "times.ended", b.requested_at AS "times.requested",
  v.reason_detail, v.reused, result.computed_ms, coalesce(result.channel_scores, '[]') AS channel_scores, coalesce(result.notes, '[]') AS notes,
  coalesce(result.windows, '[]') AS windows,
  v.audio_sha256 IS NOT NULL AS recording, recording.bytes AS "recording.bytes", opened.format AS "recording.format",
  opened.codec AS "recording.codec", recording.stored_at AS "recording.stored_at", recording.deleted_at AS "recording.deleted_at",
  recording.deleted_why AS "recording.deleted_why"
FROM verification AS v
JOIN verification_batch AS b USING (batch_id)
LEFT JOIN verification_result AS result USING (result_id)
LEFT JOIN recording ON recording.sha256 = v.audio_sha256
LEFT JOIN LATERAL (SELECT format, codec FROM verification_result WHERE audio_sha256 = v.audio_sha256 LIMIT 1) AS opened ON true
WHERE v.public_id = $1;
