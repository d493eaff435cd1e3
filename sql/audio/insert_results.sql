-- Purpose: stores results of models on audio, unless they are stored already. In the order of their keys, so that two workers with the
--   same audio do not deadlock.
-- Parameters: $1 the results as JSON text, an array of objects with the columns.
-- Rows: none.
INSERT INTO verification_result (
  audio_sha256, model, model_sha256, settings_sha256, state, reason, format, codec, sample_rate, channels, duration_seconds, voice_seconds,
  synthesis, replay, decision, channel_scores, windows, notes, computed_ms)
SELECT
  audio_sha256, model, model_sha256, settings_sha256, state, reason, format, codec, sample_rate, channels, duration_seconds, voice_seconds,
  synthesis, replay, decision, channel_scores, windows, notes, computed_ms
FROM jsonb_populate_recordset(NULL::verification_result, $1::jsonb)
ORDER BY audio_sha256, model, model_sha256, settings_sha256
ON CONFLICT (audio_sha256, model, model_sha256, settings_sha256) DO NOTHING;
