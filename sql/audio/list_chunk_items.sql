-- Purpose: items of a chunk that have no outcome.
-- Parameters: $1 batch id, $2 and $3 first and last line, $4 true: those whose scoring was started before and did not end, $5 how many at most.
-- Rows: items by attempts and line; deleted: the audio is deleted.
SELECT v.public_id, v.line, v.audio_sha256, v.model, a.deleted_at IS NOT NULL AS deleted
FROM verification AS v JOIN recording AS a ON a.sha256 = v.audio_sha256
WHERE v.batch_id = $1 AND v.line BETWEEN $2 AND $3 AND v.state IN ('queued', 'performing') AND (v.attempts > 0) = $4
ORDER BY v.attempts, v.line
LIMIT $5;
