-- Purpose: the same as sql/audio/list_newest_verifications.sql for few of all batches: those of an owner, or of a mode that has an index. Each batch
--   gives no more rows than the page has, from an index in the order of its lines, so that a page costs the same however large the batches are.
-- Parameters: $1 state or NULL for all, $2 model or NULL for all, $3 label of the decision or NULL for all, $4 mode or NULL for all,
--   $5 lowest batch id, $6 batch id and $7 line after which the page begins, $8 and $9 instants between which a batch was submitted,
--   the last one excluded, or NULL, $10 most rows, $11 owner or NULL for all,
--   $12 public id of a batch or NULL for all.
-- Rows: one a verification, by batch and line from the newest down.
WITH page AS MATERIALIZED (
  SELECT b.public_id AS batch, b.mode, b.release, b.requested_at, item.*
  FROM verification_batch AS b
  CROSS JOIN LATERAL (
    SELECT v.*
    FROM verification AS v
    WHERE v.batch_id = b.batch_id AND v.line < CASE WHEN b.batch_id = $6 THEN $7 ELSE 2147483647 END
      AND ($1::text IS NULL OR v.state = $1) AND ($2::text IS NULL OR v.model = $2) AND ($3::text IS NULL OR v.label = $3)
    ORDER BY v.line DESC
    LIMIT $10
  ) AS item
  WHERE b.batch_id <= $6 AND b.batch_id >= $5 AND ($4::text IS NULL OR b.mode = $4)
    AND ($8::timestamptz IS NULL OR b.requested_at >= $8) AND ($9::timestamptz IS NULL OR b.requested_at < $9)
    AND ($11::text IS NULL OR b.owner = $11) AND ($12::uuid IS NULL OR b.public_id = $12)
  ORDER BY b.batch_id DESC, item.line DESC
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
