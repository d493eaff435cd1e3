-- Purpose: stores the result of comparing a recording with a voiceprint.
-- Parameters: $1 voiceprint id, $2 digest of the audio, $3 identity or NULL, $4 decision as JSON text or NULL, $5 reason or NULL, $6 by whom.
-- Rows: one: its public id and when.
INSERT INTO voice_verification (voiceprint_id, audio_sha256, identity, decision, reason, verified_by)
VALUES ($1, $2, $3, $4, $5, $6)
RETURNING public_id, verified_at;
