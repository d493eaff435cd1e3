-- Purpose: stores a voiceprint, unless the person has one.
-- Parameters: $1 public id, $2 owner, $3 subject, $4 model, $5 digest of its manifest, $6 recordings, $7 seconds of voice, $8 reference of the consent,
--   $9 when it was given, $10 who recorded it, $11 sealed numbers, $12 wrapped key, $13 id of the master key.
-- Rows: its id and time, if it was stored.
INSERT INTO voiceprint (
  public_id, owner, subject, model, model_sha256, recordings, voice_seconds, consent_reference, consent_at, consent_recorded_by,
  sealed_embedding, wrapped_key, master_key_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
ON CONFLICT (owner, subject) WHERE deleted_at IS NULL DO NOTHING
RETURNING voiceprint_id, enrolled_at;
