-- Purpose: items of a chunk that have no outcome.
-- Parameters: $1 batch id, $2 chunk, $3 line after which to begin, $4 how many at most, $5 true: those whose scoring was
--   started before and did not end.
-- Rows: items by attempts and line; sample_rate is NULL until the audio was opened, deleted: the audio is deleted.
SELECT v.verification_id, v.public_id, v.line, v.audio_sha256, v.model, a.sample_rate, a.deleted_at IS NOT NULL AS deleted
FROM verification AS v JOIN recording AS a ON a.sha256 = v.audio_sha256
WHERE v.batch_id = $1 AND v.chunk = $2 AND v.state IN ('queued', 'performing') AND v.line > $3 AND (v.attempts > 0) = $5
ORDER BY v.attempts, v.line
LIMIT $4;
