-- Purpose: the latest comparisons of recordings with voiceprints.
-- Parameters: $1 digests of the audio, $2 most rows a recording, $3 true: only those with a score.
-- Rows: one a comparison, of each recording the newest first.
SELECT given.sha256 AS audio_sha256, voice.public_id AS id, print.public_id AS voiceprint, print.subject, voice.identity AS score,
  (voice.decision ->> 'identityThreshold')::double precision AS threshold, voice.decision ->> 'label' AS label, voice.reason, voice.verified_at AS at
FROM unnest($1::text[]) AS given (sha256)
CROSS JOIN LATERAL (
  SELECT * FROM voice_verification
  WHERE audio_sha256 = given.sha256 AND (NOT $3 OR identity IS NOT NULL)
  ORDER BY voice_verification_id DESC
  LIMIT $2
) AS voice
JOIN voiceprint AS print USING (voiceprint_id)
ORDER BY given.sha256, voice.voice_verification_id DESC;
