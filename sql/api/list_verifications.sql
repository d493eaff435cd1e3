-- Purpose: a page of the verifications of a client, for /v1/verifications. Each batch gives no more rows than the page has, from an
--   index in the order of its lines, so that a page costs the same however large the batches are.
-- Parameters: $1 client, $2 state or NULL for all, $3 model or NULL for all, $4 batch (public id) or NULL for all,
--   $5 batch id and $6 line after which the page begins (the largest for the first page), $7 most rows.
-- Rows: one a verification, by batch and line from the newest down.
WITH page AS MATERIALIZED (
  SELECT b.batch_id, b.public_id AS batch, b.mode, b.release, item.*
  FROM verification_batch AS b
  CROSS JOIN LATERAL (
    SELECT v.public_id, v.line, v.state, v.requested_model, v.model, v.audio_sha256, v.result_id, v.reason, v.attempts, v.queued_at, v.started_at, v.ended_at
    FROM verification AS v
    WHERE v.batch_id = b.batch_id AND v.line < CASE WHEN b.batch_id = $5 THEN $6 ELSE 2147483647 END
      AND ($2::text IS NULL OR v.state = $2) AND ($3::text IS NULL OR v.model = $3)
    ORDER BY v.line DESC
    LIMIT $7
  ) AS item
  WHERE b.owner = $1 AND b.batch_id <= $5 AND ($4::uuid IS NULL OR b.public_id = $4)
  ORDER BY b.batch_id DESC, item.line DESC
  LIMIT $7
)
SELECT page.*, coalesce(result.sample_rate, recording.sample_rate) AS sample_rate, coalesce(result.channels, recording.channels) AS channels,
  coalesce(result.duration_seconds, recording.duration_seconds) AS duration_seconds, result.voice_seconds, result.synthesis, result.replay, result.decision
FROM page
LEFT JOIN verification_result AS result USING (result_id)
LEFT JOIN recording ON recording.sha256 = page.audio_sha256
ORDER BY page.batch_id DESC, page.line DESC;
