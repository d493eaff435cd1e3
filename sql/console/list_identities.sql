-- Purpose: what comparisons of a recording with voiceprints came to.
-- Parameters: $1 digest of the audio, $2 most rows.
-- Rows: comparisons, the newest first.
SELECT voice.public_id, print.public_id AS voiceprint, print.subject, voice.identity, voice.decision, voice.reason, voice.verified_at
FROM voice_verification AS voice
JOIN voiceprint AS print USING (voiceprint_id)
WHERE voice.audio_sha256 = $1
ORDER BY voice.voice_verification_id DESC
LIMIT $2;
