-- Purpose: queues items again that ended in error. Their attempts count from 0.
-- Parameters: $1 batch id, $2 reasons that are meant.
-- Rows: none; the count of changed rows says how many. Items without stored audio stay as they are.
UPDATE verification SET state = 'queued', reason = NULL, reason_detail = NULL, attempts = 0, started_at = NULL, ended_at = NULL, queued_at = now()
WHERE batch_id = $1 AND state = 'error' AND reason = ANY ($2::text[])
  AND EXISTS (SELECT FROM recording AS a WHERE a.sha256 = verification.audio_sha256 AND a.deleted_at IS NULL);
