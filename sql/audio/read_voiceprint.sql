-- Purpose: a voiceprint's voice as it is sealed.
-- Parameters: $1 public id.
-- Rows: one with the sealed bytes and the wrapped key, both NULL once it is deleted, or none.
SELECT voiceprint_id, model, model_sha256, sealed_embedding, wrapped_key, master_key_id FROM voiceprint WHERE public_id = $1;
