-- Purpose: list the results of comparisons with a voiceprint, newest first
-- Parameters: $1 public id of the voiceprint, $2 only those before this one (null: from the newest), $3 at most this many
-- Rows: voice_verification_id, public_id, verified_at, verified_by, identity, reason, decision
SELECT c.voice_verification_id, c.public_id, c.verified_at, c.verified_by, c.identity, c.reason, c.decision
FROM voice_verification AS c
JOIN voiceprint AS v USING (voiceprint_id)
WHERE v.public_id = $1 AND ($2::bigint IS NULL OR c.voice_verification_id < $2)
ORDER BY c.voice_verification_id DESC
LIMIT $3
