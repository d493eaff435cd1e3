-- Purpose: stores the result of a model for audio, unless it is stored already.
-- Parameters: $1 digest of the audio, $2 model, $3 digest of its manifest, $4 digest of the settings, $5 state, $6 reason or NULL, $7 sample rate,
--   $8 channels, $9 seconds, $10 seconds of voice, $11 synthesis or NULL, $12 replay or NULL, then JSON text: $13 decision or NULL, $14 channels' scores,
--   $15 windows, $16 notes; $17 milliseconds of computing.
-- Rows: none.
INSERT INTO verification_result (
  audio_sha256, model, model_sha256, settings_sha256, state, reason, sample_rate, channels, duration_seconds, voice_seconds,
  synthesis, replay, decision, channel_scores, windows, notes, computed_ms)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
ON CONFLICT (audio_sha256, model, model_sha256, settings_sha256) DO NOTHING;
