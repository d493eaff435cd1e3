-- Purpose: a page of verifications, the newest first. An index in this order begins with the state, the model or the label, so that rare
--   ones are found without reading the others.
-- Parameters: $1 state or NULL for all, $2 model or NULL for all, $3 label of the decision or NULL for all, $4 mode or NULL for all,
--   $5 lowest batch id, $6 batch id and $7 line after which the page begins, $8 and $9 instants between which a batch was submitted,
--   the last one excluded, or NULL, $10 most rows.
-- Rows: one a verification, by batch and line from the newest down.
WITH page AS MATERIALIZED (
  SELECT v.*, b.public_id AS batch, b.mode, b.release, b.requested_at
  FROM verification AS v
  JOIN verification_batch AS b USING (batch_id)
  WHERE (v.batch_id, v.line) < ($6::bigint, $7::integer) AND v.batch_id >= $5
    AND ($1::text IS NULL OR v.state = $1) AND ($2::text IS NULL OR v.model = $2) AND ($3::text IS NULL OR v.label = $3)
    AND ($4::text IS NULL OR b.mode = $4)
    AND ($8::timestamptz IS NULL OR b.requested_at >= $8) AND ($9::timestamptz IS NULL OR b.requested_at < $9)
  ORDER BY v.batch_id DESC, v.line DESC
  LIMIT $10
)
SELECT page.public_id AS id, page.batch, page.state, page.mode, page.requested_model, page.model, page.release,
  page.audio_sha256 IS NOT NULL AS audio, page.audio_sha256 AS "audio.sha256", result.sample_rate AS "audio.sample_rate",
  result.channels AS "audio.channels", result.duration_seconds AS "audio.duration",
  result.voice_seconds AS "audio.voice_duration",
  page.state = 'performed' AS scores, result.synthesis AS "scores.synthesis", result.replay AS "scores.replay", 'higher-is-authentic' AS score_direction,
  CASE WHEN page.state = 'performed' THEN result.decision END AS decision, page.reason, page.attempts, page.batch_id, page.line, page.source,
  page.queued_at AS "times.queued", page.started_at AS "times.started", page.ended_at AS "times.ended", page.requested_at AS "times.requested"
FROM page
LEFT JOIN verification_result AS result USING (result_id)
ORDER BY page.batch_id DESC, page.line DESC;
