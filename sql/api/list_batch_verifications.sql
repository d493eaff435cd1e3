-- Purpose: a page of the verifications of a batch, for /v1/batches/{id}.
-- Parameters: $1 batch id, $2 state or NULL for all, $3 line after which the page begins (0 for the first), $4 most rows.
-- Rows: one a verification, by line.
WITH page AS MATERIALIZED (
  SELECT b.batch_id, b.public_id AS batch, b.mode, b.release, v.public_id, v.line, v.state, v.requested_model, v.model, v.audio_sha256, v.result_id, v.reason,
    v.attempts, v.queued_at, v.started_at, v.ended_at
  FROM verification AS v JOIN verification_batch AS b USING (batch_id)
  WHERE v.batch_id = $1 AND v.line > $3 AND ($2::text IS NULL OR v.state = $2)
  ORDER BY v.line
  LIMIT $4
)
SELECT page.*, coalesce(result.sample_rate, recording.sample_rate) AS sample_rate, coalesce(result.channels, recording.channels) AS channels,
  coalesce(result.duration_seconds, recording.duration_seconds) AS duration_seconds, result.voice_seconds, result.synthesis, result.replay, result.decision
FROM page
LEFT JOIN verification_result AS result USING (result_id)
LEFT JOIN recording ON recording.sha256 = page.audio_sha256
ORDER BY page.line;
