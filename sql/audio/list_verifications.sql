-- Purpose: items of a batch with their outcomes, by line, or one.
-- Parameters: $1 batch id or NULL, $2 public id of the item or NULL, $3 owner or NULL for all, $4 the one state or NULL for all, $5 states or NULL for
--   all, $6 line after which to begin, $7 how many at most, $8 true: with windows.
-- Rows: one an item.
WITH page AS MATERIALIZED (
  SELECT v.*, b.public_id AS batch, b.mode, b.release
  FROM verification AS v
  JOIN verification_batch AS b USING (batch_id)
  WHERE ($1::bigint IS NULL OR v.batch_id = $1) AND ($2::uuid IS NULL OR v.public_id = $2) AND ($3::text IS NULL OR b.owner = $3)
    AND ($4::text IS NULL OR v.state = $4) AND ($5::text[] IS NULL OR v.state = ANY ($5)) AND v.line > $6
  ORDER BY v.line
  LIMIT $7
)
SELECT page.public_id AS id, page.batch, page.state, page.mode, page.requested_model, page.model, page.release,
  page.audio_sha256 IS NOT NULL AS audio, page.audio_sha256 AS "audio.sha256", result.sample_rate AS "audio.sample_rate",
  result.channels AS "audio.channels", result.duration_seconds AS "audio.duration",
  result.voice_seconds AS "audio.voice_duration",
  page.state = 'performed' AS scores, result.synthesis AS "scores.synthesis", result.replay AS "scores.replay", 'higher-is-authentic' AS score_direction,
  CASE WHEN page.state = 'performed' THEN result.decision END AS decision, page.reason, page.attempts, page.line, page.source, page.reason_detail, page.reused,
  page.queued_at AS "times.queued", page.started_at AS "times.started", page.ended_at AS "times.ended",
  coalesce(result.channel_scores, '[]') AS channel_scores, coalesce(result.notes, '[]') AS notes, CASE WHEN $8 THEN result.windows END AS windows
FROM page
LEFT JOIN verification_result AS result USING (result_id)
ORDER BY page.line;
