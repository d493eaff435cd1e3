-- Purpose: items of a batch with what became of them, by line.
-- Parameters: $1 batch id, $2 states that are meant, $3 line after which to begin, $4 how many at most, $5 whether windows are wanted.
-- Rows: items.
SELECT
  v.public_id, b.public_id AS batch, v.line, v.source, v.state, b.mode, v.requested_model, v.model, b.release, v.audio_sha256,
  coalesce(r.sample_rate, a.sample_rate) AS sample_rate, coalesce(r.channels, a.channels) AS channels,
  coalesce(r.duration_seconds, a.duration_seconds) AS duration_seconds, r.voice_seconds, r.synthesis, r.replay, r.decision,
  v.reason, v.reason_detail, v.reused, v.attempts, v.queued_at, v.started_at, v.ended_at, r.channel_scores, r.notes,
  CASE WHEN $5 THEN r.windows END AS windows
FROM verification AS v
JOIN verification_batch AS b ON b.batch_id = v.batch_id
LEFT JOIN recording AS a ON a.sha256 = v.audio_sha256
LEFT JOIN verification_result AS r ON r.result_id = v.result_id
WHERE v.batch_id = $1 AND v.state = ANY ($2::text[]) AND v.line > $3
ORDER BY v.line
LIMIT $4;
