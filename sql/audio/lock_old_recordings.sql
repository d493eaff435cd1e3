-- Purpose: locks stored audio past its retention that no item waits for, until the transaction ends.
-- Parameters: $1 instant before which it was last submitted, $2 how many at most.
-- Rows: digests, the oldest first.
SELECT a.sha256 FROM recording AS a
WHERE a.deleted_at IS NULL AND a.last_submitted_at < $1
  AND NOT EXISTS (SELECT FROM verification AS v WHERE v.audio_sha256 = a.sha256 AND v.state IN ('queued', 'performing'))
ORDER BY a.last_submitted_at
LIMIT $2
FOR UPDATE OF a SKIP LOCKED;
