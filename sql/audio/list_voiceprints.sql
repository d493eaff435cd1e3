-- Purpose: voiceprints without the voice, newest first.
-- Parameters: $1 public id or NULL, $2 owner or NULL, $3 true: also deleted ones, $4 voiceprint id before which to begin or NULL, $5 how many at most.
-- Rows: voiceprints with the number of recordings that were compared with each.
SELECT v.voiceprint_id, v.public_id AS id, v.owner, v.subject, v.model, v.model_sha256, v.recordings, v.voice_seconds,
  v.consent_reference AS "consent.reference", v.consent_at AS "consent.at", v.consent_recorded_by AS "consent.recorded_by",
  v.enrolled_at, v.deleted_at, v.deleted_why,
  (SELECT count(*) FROM voice_verification AS c WHERE c.voiceprint_id = v.voiceprint_id) AS verifications
FROM voiceprint AS v
WHERE ($1::uuid IS NULL OR v.public_id = $1) AND ($2::text IS NULL OR v.owner = $2) AND ($3 OR v.deleted_at IS NULL)
  AND ($4::bigint IS NULL OR v.voiceprint_id < $4)
ORDER BY v.voiceprint_id DESC
LIMIT $5;
