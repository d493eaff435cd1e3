-- Purpose: a page of the verifications that were handed in through web pages, the newest first. Their batches are few beside those of
--   programs, and have an index of their own.
-- Parameters: $1 state or NULL for all, $2 model or NULL for all, $3 label of the decision or NULL for all,
--   $4 lowest batch id, $5 batch id and $6 line after which the page begins, $7 and $8 instants between which a batch was handed in,
--   the last one left out, or NULL, $9 most rows.
-- Rows: one a verification, by batch and line from the newest down, with the latest identity score of its audio.
WITH page AS MATERIALIZED (
  SELECT b.batch_id, b.public_id AS batch, b.mode, b.release, b.requested_at, item.*
  FROM verification_batch AS b
  CROSS JOIN LATERAL (
    SELECT v.public_id, v.line, v.source, v.state, v.requested_model, v.model, v.audio_sha256, v.result_id, v.reason, v.attempts, v.queued_at, v.started_at, v.ended_at
    FROM verification AS v
    WHERE v.batch_id = b.batch_id AND v.line < CASE WHEN b.batch_id = $5 THEN $6 ELSE 2147483647 END
      AND ($1::text IS NULL OR v.state = $1) AND ($2::text IS NULL OR v.model = $2) AND ($3::text IS NULL OR v.label = $3)
    ORDER BY v.line DESC
    LIMIT $9
  ) AS item
  WHERE b.mode = 'webDemo' AND b.batch_id <= $5 AND b.batch_id >= $4
    AND ($7::timestamptz IS NULL OR b.requested_at >= $7) AND ($8::timestamptz IS NULL OR b.requested_at < $8)
  ORDER BY b.batch_id DESC, item.line DESC
  LIMIT $9
)
SELECT page.*, coalesce(result.sample_rate, recording.sample_rate) AS sample_rate, coalesce(result.channels, recording.channels) AS channels,
  coalesce(result.duration_seconds, recording.duration_seconds) AS duration_seconds, result.voice_seconds, result.synthesis, result.replay, result.decision,
  identity.identity, identity.identity_threshold
FROM page
LEFT JOIN verification_result AS result USING (result_id)
LEFT JOIN recording ON recording.sha256 = page.audio_sha256
LEFT JOIN LATERAL (
  SELECT voice.identity, (voice.decision ->> 'identityThreshold')::double precision AS identity_threshold
  FROM voice_verification AS voice
  WHERE voice.audio_sha256 = page.audio_sha256 AND voice.identity IS NOT NULL
  ORDER BY voice.voice_verification_id DESC
  LIMIT 1
) AS identity ON true
ORDER BY page.batch_id DESC, page.line DESC;
